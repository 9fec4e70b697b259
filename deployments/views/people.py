"""The person behind a request, for views that only people who are logged in reach."""

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from django_htmx.middleware import HtmxDetails

from deployments.models import User


class PanelRequest(HttpRequest):
    """A request that has passed the middleware of django-htmx."""

    htmx: HtmxDetails


def person(request: HttpRequest) -> User:
    """The person who asks.

    Raises:
        PermissionDenied: nobody is logged in, which the middleware forbids before.
    """
    if isinstance(request.user, AnonymousUser):
        raise PermissionDenied
    return request.user

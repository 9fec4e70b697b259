"""The person behind a request, for views that only people who are logged in reach."""

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from deployments.models import User


def person(request: HttpRequest) -> User:
    """The person who asks.

    Raises:
        PermissionDenied: nobody is logged in, which the middleware forbids before.
    """
    if isinstance(request.user, AnonymousUser):
        raise PermissionDenied
    return request.user

"""The person behind a request, for views that only people who are logged in reach."""

from datetime import UTC, datetime

from allauth.account.authentication import get_authentication_records
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from deployments.models import Team, User
from deployments.selectors.access import has_role
from deployments.views.manifest import Permission


class PanelRequest(HttpRequest):
    """A request that has passed the middleware: htmx headers and its manifest entry."""

    htmx: HtmxDetails
    permission: Permission


def person(request: HttpRequest) -> User:
    """The person who asks.

    Raises:
        PermissionDenied: nobody is logged in, which the middleware forbids before.
    """
    if isinstance(request.user, AnonymousUser):
        raise PermissionDenied
    return request.user


def proved_at(request: HttpRequest) -> datetime | None:
    """When the person last proved in this session who they are: a log-in, a password, a code."""
    records = get_authentication_records(request, person(request))
    moments = [one["at"] for one in records if isinstance(one.get("at"), int | float)]
    return datetime.fromtimestamp(max(moments), UTC) if moments else None


def refuse_without_role(request: PanelRequest, team: Team) -> None:
    """Refuse a change to somebody who lacks the role that the manifest names for it.

    Asked before the form is read, so that a wrong form tells a stranger nothing.

    Raises:
        PermissionDenied: the person does not hold that role in the team.
    """
    role = request.permission.role
    if role is not None and not has_role(person(request), team, role):
        raise PermissionDenied

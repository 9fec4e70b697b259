"""Absences: those of a person, those in which they decide, and who could decide for them."""

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from deployments.models import Delegation, Membership, TeamRole, User
from deployments.selectors.access import teams_with_role


def own_delegations(user: User) -> QuerySet[Delegation]:
    """The open absences of the person, and those in which they decide for others."""
    rows = Delegation.objects.for_user(user).filter(ended_at=None, ends_at__gt=Now())
    mine = rows.filter(Q(approver=user) | Q(delegate=user))
    return mine.select_related("team", "approver", "delegate").order_by("ends_at")


def possible_delegates(user: User) -> list[Membership]:
    """The other members of teams in which the person approves."""
    teams = teams_with_role(user, TeamRole.APPROVER)
    others = Membership.objects.filter(team__in=teams, user__is_active=True)
    return list(
        others.exclude(user=user)
        .select_related("team", "user")
        .order_by("team__name", "user__username")
    )

"""Who may do what: roles of a person in a team, and the rows they may see."""

import uuid
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from deployments.models import RoleGrant, Team, TeamRole, User
from deployments.selectors.ready_rows import asked_by, ready_rows


def roles_in(user: User | AnonymousUser, team: Team) -> frozenset[TeamRole]:
    """The roles that the person holds in the team now; never cached, so a removal counts at once."""
    if not user.is_authenticated or not user.is_active:
        return frozenset()
    granted = RoleGrant.objects.filter(
        membership__user=user, membership__team=team
    ).values_list("role", flat=True)
    return frozenset(TeamRole(role) for role in granted)


def has_role(user: User | AnonymousUser, team: Team, role: TeamRole) -> bool:
    """Whether the person holds exactly this role; no role implies another."""
    return role in roles_in(user, team)


def teams_with_role(user: User, role: TeamRole) -> list[Team]:
    """The teams in which the person holds the role."""
    return list(
        Team.objects.filter(
            memberships__user=user, memberships__grants__role=role
        ).order_by("name")
    )


def team_ids_with_role(user: User, role: TeamRole) -> frozenset[uuid.UUID]:
    """The ids of those teams, for lists whose rows name their team by its id."""

    def granted() -> QuerySet[RoleGrant, Any]:
        rows = RoleGrant.objects.filter(membership__user=user, role=role)
        return rows.values_list("membership__team")

    key = ("teams with role", asked_by(user), role)
    return frozenset(team for (team,) in ready_rows(key, granted))

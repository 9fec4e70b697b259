"""Teams with their members, roles and invitations, and who may change them."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from deployments.models import (
    Invitation,
    Membership,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.access import has_role
from deployments.selectors.tokens import hash_of

GIVEN_BY_TEAM_ADMINS = (
    TeamRole.VIEWER,
    TeamRole.OPERATOR,
    TeamRole.APPROVER,
    TeamRole.ADMIN,
)
"""“Break glass” is given by platform admins alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMark:
    """One role as a box of a form: whether the member holds it, and whether this person may change it."""

    role: TeamRole
    held: bool
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """One member, as the person who looks may change them; ``fixed`` says why not."""

    row: Membership
    marks: tuple[RoleMark, ...]
    may_change: bool


def teams_seen_by(user: User) -> QuerySet[Team]:
    """The teams that the person is in; for platform admins all."""
    if user.is_superuser:
        return Team.objects.all()
    return Team.objects.filter(memberships__user=user)


def may_manage(user: User, team: Team) -> bool:
    """Whether the person gives and takes roles in the team: its admins and platform admins."""
    if not user.is_active:
        return False
    return user.is_superuser or has_role(user, team, TeamRole.ADMIN)


def roles_given_by(user: User) -> tuple[TeamRole, ...]:
    """The roles that this person may give to others where they manage a team."""
    return tuple(TeamRole) if user.is_superuser else GIVEN_BY_TEAM_ADMINS


def member_rows(user: User, team: Team, *, manages: bool) -> tuple[MemberRow, ...]:
    """Everybody in the team by name, in two queries."""
    rows = (
        Membership.objects.filter(team=team)
        .select_related("user")
        .prefetch_related("grants")
        .order_by("user__username")
    )
    return tuple(_member(user, row, manages=manages) for row in rows)


def _member(user: User, row: Membership, *, manages: bool) -> MemberRow:
    held = {grant.role for grant in row.grants.all()}
    may_change = manages and (user.is_superuser or row.user_id != user.pk)
    given = roles_given_by(user)
    marks = tuple(
        RoleMark(
            role=role,
            held=role in held,
            open=role in given
            and not (role == TeamRole.BREAK_GLASS and row.user_id == user.pk),
        )
        for role in TeamRole
    )
    return MemberRow(row=row, marks=marks, may_change=may_change)


def open_invitations(team: Team) -> QuerySet[Invitation]:
    """Links of the team that can still be used, newest first."""
    return _usable().filter(team=team).select_related("invited_by")


def invitation_of(token: str) -> Invitation | None:
    """The invitation of a link, if it holds and who made it could still make it."""
    row = (
        _usable()
        .filter(token_hash=hash_of(token))
        .select_related("team", "invited_by")
        .first()
    )
    if row is None or not may_manage(row.invited_by, row.team):
        return None
    return row


def other_admins(team: Team, user: User) -> QuerySet[Membership]:
    """Other people who can log in and administer the team."""
    grants = RoleGrant.objects.filter(membership=OuterRef("pk"), role=TeamRole.ADMIN)
    return Membership.objects.filter(
        Exists(grants), team=team, user__is_active=True
    ).exclude(user=user)


def platform_admins() -> QuerySet[User]:
    """The people who administer the panel, by name."""
    return User.objects.filter(is_superuser=True, is_active=True).order_by("username")


def _usable() -> QuerySet[Invitation]:
    return Invitation.objects.filter(
        accepted_at=None, revoked_at=None, expires_at__gt=Now()
    )

"""Roles that groups of a single sign-on stand for."""

import logging
from collections.abc import Iterable, Mapping

from django.db import transaction

from deployments.models import (
    AuditAction,
    Membership,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.members import GIVEN_BY_TEAM_ADMINS
from deployments.services.audit import record
from deployments.services.members import ask_anew, person_in

logger = logging.getLogger(__name__)


def note_new_person(user: User) -> None:
    """Tell the audit of an account that a single sign-on made."""
    record(AuditAction.PERSON_ADDED, None, user, after={"single_sign_on": True})


def apply_groups(
    user: User, groups: Iterable[object], mapping: Mapping[str, tuple[str, str]]
) -> None:
    """Give the roles of the person's groups, and take those that the mapping knows and they lack.

    ``mapping`` is from a group to a team's short name and a role. Roles that it does not name are
    left alone; “Break glass” is never given by a group.
    """
    told = {str(group) for group in groups}
    wanted: dict[str, set[TeamRole]] = {}
    known: dict[str, set[TeamRole]] = {}
    for group, (slug, role) in mapping.items():
        if role not in GIVEN_BY_TEAM_ADMINS:
            logger.warning("group names no role that it may give", extra={"role": role})
            continue
        known.setdefault(slug, set()).add(TeamRole(role))
        if group in told:
            wanted.setdefault(slug, set()).add(TeamRole(role))
    with transaction.atomic():
        for team in Team.objects.filter(slug__in=known).select_for_update():
            _renew(user, team, wanted.get(team.slug, set()), known[team.slug])


def _renew(user: User, team: Team, wanted: set[TeamRole], known: set[TeamRole]) -> None:
    row = Membership.objects.filter(team=team, user=user).first()
    if row is None and not wanted:
        return
    if row is None:
        row = Membership.objects.create(team=team, user=user)
    held = {TeamRole(grant.role) for grant in row.grants.all()}
    gone, new = (held & known) - wanted, wanted - held
    if not gone and not new:
        return
    row.grants.filter(role__in=gone).delete()
    RoleGrant.objects.bulk_create(RoleGrant(membership=row, role=role) for role in new)
    if TeamRole.APPROVER in gone:
        ask_anew(team, user)
    record(
        AuditAction.ROLES_CHANGED,
        None,
        person_in(team, user),
        before={"roles": sorted(held)},
        after={"roles": sorted((held - gone) | new)},
        reason="groups of the single sign-on",
    )

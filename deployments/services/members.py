"""Give and take roles, add and remove members, name platform admins."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditKind,
    Membership,
    RequestState,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.deciders import is_enough
from deployments.selectors.members import (
    may_manage,
    other_admins,
    platform_admins,
    roles_given_by,
)
from deployments.services.audit import record
from deployments.services.audit_subjects import Subject
from deployments.services.errors import ConflictError, NotAllowedError


def require_manager(user: User, team: Team, roles: Iterable[TeamRole] = ()) -> None:
    """Refuse whoever does not manage the team, or may not give one of these roles.

    Raises:
        NotAllowedError: it takes an admin of the team or the panel, or for the role the latter.
    """
    if not may_manage(user, team):
        raise NotAllowedError(
            _("This needs an admin of the team %(team)s, or of the panel.")
            % {"team": team.name}
        )
    if set(roles) - set(roles_given_by(user)):
        raise NotAllowedError(_("“Break glass” is given by platform admins alone."))


def set_roles(user: User, row: Membership, roles: Iterable[TeamRole]) -> None:
    """Leave the member with exactly these roles; approvals that counted on a lost one are asked anew.

    Raises:
        NotAllowedError: the person does not manage the team, or it is about their own roles.
        ConflictError: the team would have no admin left.
    """
    wanted = frozenset(roles)
    with transaction.atomic():
        team = _in_turn(row.team)
        held = frozenset(TeamRole(one.role) for one in row.grants.all())
        changed = wanted ^ held
        require_manager(user, team, changed)
        _not_oneself(user, row.user, changed)
        if not changed:
            return
        if TeamRole.ADMIN in held - wanted:
            _not_the_last(team, row.user)
        row.grants.filter(role__in=held - wanted).delete()
        RoleGrant.objects.bulk_create(
            RoleGrant(membership=row, role=role, granted_by=user)
            for role in wanted - held
        )
        if TeamRole.APPROVER in held - wanted:
            ask_anew(team, row.user)
        record(
            AuditAction.ROLES_CHANGED,
            user,
            person_in(team, row.user),
            before={"roles": sorted(held)},
            after={"roles": sorted(wanted)},
        )


def take_in(user: User, team: Team, name: str, roles: Iterable[TeamRole]) -> Membership:
    """Put somebody who has an account into the team.

    Raises:
        NotAllowedError: the person does not manage the team, or it is about themselves.
        ConflictError: nobody has that name, or they are in the team.
    """
    wanted = frozenset(roles)
    with transaction.atomic():
        team = _in_turn(team)
        require_manager(user, team, wanted)
        somebody = User.objects.filter(username=name, is_active=True).first()
        if somebody is None:
            raise ConflictError(
                _("Nobody is called “%(name)s”. Invite them by a link.")
                % {"name": name}
            )
        _not_oneself(user, somebody, wanted)
        if Membership.objects.filter(team=team, user=somebody).exists():
            raise ConflictError(
                _("%(name)s is in the team already: change their roles.")
                % {"name": name}
            )
        row = Membership.objects.create(team=team, user=somebody)
        give_roles(row, wanted, user)
        record(
            AuditAction.MEMBER_ADDED,
            user,
            person_in(team, somebody),
            after={"roles": sorted(wanted)},
        )
    return row


def give_roles(row: Membership, roles: Iterable[TeamRole], by: User) -> None:
    """Give a new member these roles, in the name of whoever may."""
    RoleGrant.objects.bulk_create(
        RoleGrant(membership=row, role=role, granted_by=by) for role in set(roles)
    )


def remove_member(user: User, row: Membership) -> None:
    """Take somebody out of the team: from the next request on they see nothing of it.

    Raises:
        NotAllowedError: the person does not manage the team, or would remove themselves.
        ConflictError: the team would have no admin left.
    """
    with transaction.atomic():
        team = _in_turn(row.team)
        held = frozenset(TeamRole(one.role) for one in row.grants.all())
        require_manager(user, team, held)
        if user.pk == row.user_id:
            raise NotAllowedError(_("Nobody removes themselves: ask another admin."))
        if TeamRole.ADMIN in held:
            _not_the_last(team, row.user)
        somebody = row.user
        row.delete()
        if TeamRole.APPROVER in held:
            ask_anew(team, somebody)
        record(
            AuditAction.MEMBER_REMOVED,
            user,
            person_in(team, somebody),
            before={"roles": sorted(held)},
        )


def set_platform_admin(user: User, name: str, *, admin: bool) -> None:
    """Make somebody a platform admin, or end that.

    Raises:
        NotAllowedError: the person is none.
        ConflictError: nobody has that name, or nobody would be left.
    """
    if not (user.is_active and user.is_superuser):
        raise NotAllowedError(_("This needs an admin of the panel."))
    with transaction.atomic():
        admins = list(platform_admins().select_for_update())
        somebody = User.objects.filter(username=name, is_active=True).first()
        if somebody is None:
            raise ConflictError(_("Nobody is called “%(name)s”.") % {"name": name})
        if somebody.is_superuser == admin:
            return
        if not admin and [one.pk for one in admins] == [somebody.pk]:
            raise ConflictError(
                _("The panel needs an admin: make somebody else one first.")
            )
        User.objects.filter(pk=somebody.pk).update(is_superuser=admin, is_staff=admin)
        record(
            AuditAction.PLATFORM_ADMIN,
            user,
            somebody,
            before={"platform_admin": not admin},
            after={"platform_admin": admin},
        )


def person_in(team: Team, user: User) -> Subject:
    """A person, as entries about their place in a team name them."""
    return Subject(
        kind=AuditKind.PERSON, id=str(user.pk), name=user.username, team=team
    )


def _in_turn(team: Team) -> Team:
    """The team, while nobody else changes its people: two admins must not remove each other."""
    return Team.objects.select_for_update().get(pk=team.pk)


def _not_oneself(user: User, somebody: User, changed: frozenset[TeamRole]) -> None:
    if user.pk != somebody.pk or not changed:
        return
    if not user.is_superuser or TeamRole.BREAK_GLASS in changed:
        raise NotAllowedError(
            _("Nobody gives or takes roles of their own: ask another admin.")
        )


def _not_the_last(team: Team, user: User) -> None:
    if not other_admins(team, user).exists():
        raise ConflictError(_("The team needs an admin: make somebody else one first."))


def ask_anew(team: Team, user: User) -> None:
    """Open approved requests again whose approvals no longer suffice without this person's.

    Those that somebody gave for them in their absence are theirs, too.
    """
    theirs = Q(approvals__user=user) | Q(approvals__delegated__approver=user)
    of_team = Q(plan__revision__deployment__team=team)
    of_guests = Q(plan__revision__deployment__cluster__team=team)
    requests = ApprovalRequest.objects.filter(
        theirs, of_team | of_guests, state=RequestState.APPROVED
    ).select_related(
        "plan__revision__deployment__cluster", "plan__revision__deployment__team"
    )
    for request in requests.distinct():
        if is_enough(request):
            continue
        opened = ApprovalRequest.objects.filter(
            pk=request.pk, state=RequestState.APPROVED
        ).update(state=RequestState.OPEN, decided_at=None)
        if opened:
            record(
                AuditAction.REQUEST_REOPENED,
                None,
                request,
                before={"state": RequestState.APPROVED},
                after={"state": RequestState.OPEN},
            )

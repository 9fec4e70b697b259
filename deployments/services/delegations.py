"""Let another member of the team decide during an absence; it ends by itself."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    Delegation,
    Membership,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.access import has_role
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError

LONGEST = timedelta(days=90)


def delegate_votes(
    user: User, team: Team, delegate: User, ends_at: datetime
) -> Delegation:
    """Let somebody decide for the person in one team until a time.

    Only the person's own right is handed on. Whoever is absent decides for nobody, so that no chain
    or circle arises.

    Raises:
        NotAllowedError: the person is no approver of the team.
        ConflictError: it is the person, no member, or absent too; the end is over or too far; the
            person is absent already.
    """
    require_role(user, team, TeamRole.APPROVER)
    now = timezone.now()
    if not now < ends_at <= now + LONGEST:
        raise ConflictError(
            _("An absence ends in the future, at most %(days)s days ahead.")
            % {"days": LONGEST.days}
        )
    if delegate.pk == user.pk:
        raise ConflictError(_("Nobody decides for themselves: choose somebody else."))
    try:
        with transaction.atomic():
            # Two people who choose each other at once take turns here.
            Team.objects.select_for_update(no_key=True).get(pk=team.pk)
            _prove_present(team, delegate)
            open_ones = Delegation.objects.filter(team=team, ended_at=None)
            open_ones.filter(ends_at__lte=now).update(ended_at=F("ends_at"))
            row = Delegation.objects.create(
                team=team, approver=user, delegate=delegate, ends_at=ends_at
            )
            told = {"delegate": str(delegate), "ends_at": ends_at}
            record(AuditAction.DELEGATION_ADDED, user, team, after=told)
    except IntegrityError as error:
        raise ConflictError(
            _("You are absent in this team already. End that first.")
        ) from error
    return row


def end_delegation(user: User, row: Delegation) -> None:
    """End an absence at once; votes that were given in it stay.

    Raises:
        NotAllowedError: it is another's, and the person is no admin of the team.
        ConflictError: it has ended.
    """
    if user.pk != row.approver_id and not has_role(user, row.team, TeamRole.ADMIN):
        raise NotAllowedError(_("This is the absence of somebody else."))
    with transaction.atomic():
        still = Delegation.objects.filter(pk=row.pk, ended_at=None, ends_at__gt=Now())
        if still.update(ended_at=Now()) != 1:
            raise ConflictError(_("This absence has ended."))
        told = {"approver": str(row.approver), "delegate": str(row.delegate)}
        record(AuditAction.DELEGATION_ENDED, user, row.team, before=told)


def _prove_present(team: Team, delegate: User) -> None:
    members = Membership.objects.filter(team=team, user=delegate)
    if not delegate.is_active or not members.exists():
        raise ConflictError(_("Choose a member of the team."))
    absent = Delegation.objects.filter(
        team=team, approver=delegate, ended_at=None, ends_at__gt=Now()
    )
    if absent.exists():
        raise ConflictError(
            _("%(name)s is absent, too. Choose somebody else.")
            % {"name": str(delegate)}
        )

"""Let the panel propose changes of a deployment by itself, and do so when it is time."""

import logging
import time
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from deployments.models import (
    EVERY_DAYS,
    ApprovalRequest,
    AuditAction,
    Deployment,
    ProposalSchedule,
    Release,
    ReleaseState,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, said_by, text
from deployments.selectors.next_changes import changes_of
from deployments.selectors.plans import stored_plan
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError, UseCaseError
from deployments.services.proposing import propose

logger = logging.getLogger(__name__)
WAITING = (RequestState.OPEN, RequestState.APPROVED)
TURNED_DOWN = (RequestState.REJECTED, RequestState.WITHDRAWN)
NOT_AGAIN = timedelta(days=90)
"""So long a change that people turned down, or tried and took back, is not proposed again as long as nothing else is."""


def schedule_proposals(
    user: User, deployment: Deployment, every_days: int | None
) -> None:
    """Let the panel propose changes every so many days in the person's name; ``None`` ends it.

    Raises:
        NotAllowedError: the person is no admin of the team, or no operator, whose act a proposal is.
        ConflictError: another number of days than offered.
    """
    require_role(user, deployment.team, TeamRole.ADMIN)
    if every_days is not None:
        require_role(user, deployment.team, TeamRole.OPERATOR)
        if every_days not in EVERY_DAYS:
            raise ConflictError(_("Choose how often the panel looks."))
    with transaction.atomic():
        row = ProposalSchedule.objects.filter(deployment=deployment).first()
        before = row.every_days if row else None
        if every_days is None:
            ProposalSchedule.objects.filter(deployment=deployment).delete()
        else:
            ProposalSchedule.objects.update_or_create(
                deployment=deployment,
                defaults={
                    "every_days": every_days,
                    "allowed_by": user,
                    "looked_at": None,
                    "problem": "",
                },
            )
        record(
            AuditAction.PROPOSALS_SCHEDULED,
            user,
            deployment,
            before={"every_days": before},
            after={"every_days": every_days},
        )


def propose_due() -> int:
    """Look at each deployment whose time has come; returns how many requests were made.

    Nothing is proposed while a request waits or a release changes something; that is looked at again with
    the next round. What is made is a request like any other: it starts by nobody but a person.
    """
    waiting = ApprovalRequest.objects.filter(
        plan__revision__deployment=OuterRef("deployment"), state__in=WAITING
    )
    rows = ProposalSchedule.objects.filter(~Exists(waiting)).select_related(
        "deployment__team", "deployment__cluster", "allowed_by", "proposed"
    )
    return sum(_look(row) for row in rows if _is_due(row))


def _is_due(row: ProposalSchedule) -> bool:
    every = timedelta(days=row.every_days)
    return row.looked_at is None or row.looked_at + every <= timezone.now()


def _look(row: ProposalSchedule) -> bool:
    """Propose the first change that was not turned down; returns whether one was."""
    claimed = ProposalSchedule.objects.filter(
        pk=row.pk, looked_at=row.looked_at
    ).update(looked_at=timezone.now(), problem="")
    if not claimed:
        return False
    try:
        with translation.override("en"):
            return _propose(row)
    except (UseCaseError, PlanningError) as error:
        logger.warning("no proposal", extra={"deployment": str(row.deployment_id)})
        _note(row, said_by(error))
        return False


def _propose(row: ProposalSchedule) -> bool:
    deployment = row.deployment
    live = (
        deployment.releases.filter(state=ReleaseState.LIVE)
        .select_related("plan__revision")
        .first()
    )
    if live is None:
        _note(row, text("Nothing runs now, so nothing is judged."))
        return False
    plan = stored_plan(live.plan)
    if plan.canary is not None:
        _note(row, text("A canary is being tried, so nothing else is proposed."))
        return False
    found = changes_of(deployment, live, plan, int(time.time()))
    wanted = next((one for one in found if not _turned_down(row, one.key)), None)
    if wanted is None:
        return False
    request = propose(row.allowed_by, deployment, wanted.key, by_itself=True)
    ProposalSchedule.objects.filter(pk=row.pk).update(
        proposed=request, proposal_key=wanted.key
    )
    return True


def _turned_down(row: ProposalSchedule, key: str) -> bool:
    """Whether people said no to this very change lately, or tried it and went back."""
    request = row.proposed
    if (
        request is None
        or row.proposal_key != key
        or request.created_at <= timezone.now() - NOT_AGAIN
    ):
        return False
    tried = Release.objects.filter(request=request, live_at__isnull=False)
    return request.state in TURNED_DOWN or tried.exists()


def _note(row: ProposalSchedule, said: Text) -> None:
    ProposalSchedule.objects.filter(pk=row.pk).update(problem=said)

"""QUEUE: a release that found its devices or ports held waits until all are free and it is its turn."""

from django.db.models.functions import Now

from deployments.models import ApprovalRequest, ReleaseState
from deployments.planning.text import said_by, text
from deployments.services.approvals import mark_expired
from deployments.services.device_queue import leave_queue
from deployments.services.errors import ConflictError
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError, Wait
from deployments.services.rollout.permission import (
    may_begin,
    prove_approval,
    prove_start,
)
from deployments.services.rollout.rollout import Rollout

LOOK_AGAIN_S = 15.0
"""Whoever frees something wakes those who wait; this finds what nobody told."""


def queue(rollout: Rollout, act: Act) -> Done | Wait:
    """Take what the release waits for, or go on waiting; VALIDATE asks everything again afterwards.

    Raises:
        StepFailedError: the approval no longer holds or ran out while it waited, or the time to
            start is over.
    """
    del act
    prove_start(rollout)
    prove_approval(rollout)
    _prove_not_expired(rollout)
    if not may_begin(rollout):
        return Wait(LOOK_AGAIN_S)
    try:
        with rollout.claim.fenced():
            free = leave_queue(rollout.release)
    except ConflictError as error:
        raise StepFailedError(
            "taken_meanwhile", said_by(error), text("Release the plan again.")
        ) from error
    if not free:
        return Wait(LOOK_AGAIN_S)
    return Done(text("What it waited for is free and held for it now."))


def _prove_not_expired(rollout: Rollout) -> None:
    """An approval is for a time; what was live once may be restored at any time."""
    request = rollout.release.request
    if request.releases.filter(live_at__isnull=False).exists():
        return
    if ApprovalRequest.objects.filter(pk=request.pk, expires_at__gt=Now()).exists():
        return
    with rollout.claim.fenced():
        mark_expired(request.pk)
    raise StepFailedError(
        "approval_expired",
        text("its approval ran out while it waited for devices or ports"),
        text("Submit the plan again and have it approved."),
        final=ReleaseState.BLOCKED,
    )

"""Run one bounded slice of a command: claim it, carry it on, hand it back or finish it."""

import logging
import uuid

from django.db.models.functions import Now

from deployments.models import (
    CHANGING_STATES,
    AuditAction,
    Command,
    CommandKind,
    CommandState,
    EventKind,
    Release,
    ReleaseState,
)
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, said_by, text
from deployments.services.emergency_stop import stop_the_rest
from deployments.services.rollout.acts import remove_acts, stop_acts
from deployments.services.rollout.claims import Claim, LeaseLostError, claim
from deployments.services.rollout.deploying import (
    decide_failure,
    deploy,
    record_failure,
)
from deployments.services.rollout.ending import remove, stop
from deployments.services.rollout.journal import Act, Step
from deployments.services.rollout.outcomes import Done, StepFailedError, Wait
from deployments.services.rollout.passing import passes_by_itself
from deployments.services.rollout.rollout import Rollout
from deployments.services.rollout.running import Failed, run_acts
from deployments.services.rollout.telling import tell_ended, tell_failed

logger = logging.getLogger(__name__)

CRASHES = 3
AFTER_CRASH_S = 5.0
AFTER_DEADLOCK_S = 1.0


def run_command(command_id: uuid.UUID) -> None:
    """Work on a command for some seconds; harmless for one that is not due or is another's.

    What passes by itself, such as a deadlock, is done again in a second and noted nowhere but in the
    log. Any other exception but a lost lease is written into the journal and raised, so that it is seen; the
    command is tried again, three times in all.
    """
    claimed = claim(command_id)
    if claimed is None:
        return
    try:
        _run_slice(claimed)
    except LeaseLostError:
        logger.warning("lease lost", extra={"command_id": str(command_id)})
    except Exception as error:
        if passes_by_itself(error):
            logger.warning("database busy", extra={"command_id": str(command_id)})
            claimed.hand_back(AFTER_DEADLOCK_S)
            return
        logger.exception("step errored", extra={"command_id": str(command_id)})
        _note_crash(claimed, error)
        raise


def _run_slice(claimed: Claim) -> None:
    try:
        rollout = Rollout(claimed)
    except PlanningError as error:
        _block(claimed, "digest_mismatch", said_by(error))
        return
    with rollout:
        _carry_on(rollout)


def _carry_on(rollout: Rollout) -> None:
    claimed = rollout.claim
    if claimed.taken_over:
        _note_takeover(rollout)
    crashes = rollout.journal.crashes()
    if crashes >= 2 * CRASHES:
        _block(
            claimed,
            "internal_error",
            text("Not even undoing it works; read the worker's log."),
        )
        return
    if crashes >= CRASHES and rollout.journal.failure() is None:
        _fail_crashed(rollout)
    match CommandKind(rollout.command.kind):
        case CommandKind.DEPLOY:
            deploy(rollout)
        case CommandKind.STOP:
            _stop(rollout)
        case CommandKind.REMOVE:
            _remove(rollout)


def _stop(rollout: Rollout) -> None:
    ended = run_acts(rollout, stop_acts(rollout), _on_member)
    if ended is None:
        with rollout.claim.fenced():
            Release.objects.filter(
                pk=rollout.release.pk, state=ReleaseState.STOPPING
            ).update(state=ReleaseState.STOPPED, state_since=Now(), ended_at=Now())
            rollout.claim.finish(CommandState.DONE)
            stop_the_rest(rollout.release)
            tell_ended(rollout.release, AuditAction.RELEASE_ENDED)
    elif isinstance(ended, Failed):
        event = decide_failure(rollout, ended)
        with rollout.claim.fenced():
            Release.objects.filter(
                pk=rollout.release.pk, state=ReleaseState.STOPPING
            ).update(state=ReleaseState.BLOCKED, state_since=Now())
            rollout.claim.finish(CommandState.FAILED, event.message)
            stop_the_rest(rollout.release)
            tell_failed(rollout.release, ended.error.code[:60])


def _remove(rollout: Rollout) -> None:
    ended = run_acts(rollout, remove_acts(rollout), _on_member)
    if ended is None:
        with rollout.claim.fenced():
            rollout.claim.finish(CommandState.DONE)
    elif isinstance(ended, Failed):
        event = record_failure(rollout, ended)
        with rollout.claim.fenced():
            rollout.claim.finish(CommandState.FAILED, event.message)


def _on_member(rollout: Rollout, act: Act) -> Done | Wait:
    if act.replica is None:
        raise TypeError(f"{act.step} is an act on a replica")
    member = rollout.member(act.replica)
    if act.step is Step.STOP:
        return stop(rollout, act, member)
    return remove(rollout, act, member)


def _block(claimed: Claim, code: str, reason: Text) -> None:
    """Nothing more may be done: a person must look, and bookings stay as they are."""
    with claimed.fenced():
        release_id = Command.objects.values_list("release_id", flat=True).get(
            pk=claimed.command_id
        )
        Release.objects.filter(pk=release_id, state__in=CHANGING_STATES).update(
            state=ReleaseState.BLOCKED,
            state_since=Now(),
            cause_code=code,
            cause=reason,
            next_action=text("Plan the revision again and have the new plan approved."),
        )
        claimed.finish(CommandState.FAILED, reason)
        tell_failed(Release.objects.get(pk=release_id), code)


def _note_takeover(rollout: Rollout) -> None:
    with rollout.claim.fenced():
        rollout.journal.write(
            Act(rollout.journal.last_step()),
            EventKind.NOTE,
            text("The worker that did this was lost; another one continues."),
            {"taken_over": True},
        )


def _note_crash(claimed: Claim, error: Exception) -> None:
    """Keep what kind of surprise it was; its text may hold anything and stays in the log."""
    try:
        with claimed.fenced():
            rollout = Rollout(claimed)
            rollout.journal.write(
                Act(rollout.journal.last_step()),
                EventKind.NOTE,
                text(
                    "An unexpected error ({kind}) ended this try; the worker's log has it.",
                    kind=type(error).__name__,
                ),
                {"crash": type(error).__name__},
            )
    except LeaseLostError:
        return
    claimed.hand_back(AFTER_CRASH_S)


def _fail_crashed(rollout: Rollout) -> None:
    error = StepFailedError(
        "internal_error",
        text("an unexpected error came three times; the worker's log has it"),
        text("Report it with the worker's log, then release again."),
    )
    decide_failure(rollout, Failed(Act(rollout.journal.last_step()), error))

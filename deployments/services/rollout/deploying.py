"""DEPLOY: forward to live, or back to what was before."""

from collections.abc import Sequence

from django.db.models.functions import Now

from deployments.docker_api.errors import DockerApiError
from deployments.models import (
    CHANGING_STATES,
    AuditAction,
    CommandState,
    EventKind,
    Release,
    ReleaseEvent,
    ReleaseState,
)
from deployments.planning.text import ended, sentences, text
from deployments.services.emergency_stop import stop_the_rest
from deployments.services.host_probe import probe_is_running
from deployments.services.rollout.acts import deploy_acts, undo_acts
from deployments.services.rollout.creating import create, start
from deployments.services.rollout.ending import give_up_undoing, undo
from deployments.services.rollout.fabric_check import check_fabric
from deployments.services.rollout.failures import sentence
from deployments.services.rollout.image_checks import check_images
from deployments.services.rollout.journal import Act, Step
from deployments.services.rollout.outcomes import Done, StepFailedError, Wait
from deployments.services.rollout.preflight import book, validate
from deployments.services.rollout.pulling import pull
from deployments.services.rollout.queueing import queue
from deployments.services.rollout.replacing import (
    keep_old_for_later,
    make_old_live,
    not_restored,
    remove_old,
    restore_old,
    stop_old,
    switch,
)
from deployments.services.rollout.rollout import Member, Rollout
from deployments.services.rollout.running import Failed, HandedBack, run_acts
from deployments.services.rollout.telling import (
    tell_back,
    tell_ended,
    tell_failed,
    tell_live,
)
from deployments.services.rollout.together import do_together
from deployments.services.rollout.verifying import smoke, wait_ready

PROBE_LOOK_AGAIN_S = 2.0
TOGETHER = frozenset({Step.PULL, Step.CREATE, Step.START})


def _start(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Start once no probe may hold the device: on Ascend it belongs to the first container."""
    if member.planned.devices and probe_is_running(member.host):
        return Wait(PROBE_LOOK_AGAIN_S)
    return start(rollout, act, member)


def _check(rollout: Rollout, act: Act) -> Done:
    """Prove that hosts reach each other and that images take the commands; nothing has stopped yet."""
    check_fabric(rollout)
    return check_images(rollout, act)


_ON_RELEASE = {
    Step.QUEUE: queue,
    Step.VALIDATE: validate,
    Step.BOOK: book,
    Step.CHECK: _check,
    Step.SWITCH: switch,
}
_ON_MEMBER = {
    Step.PULL: pull,
    Step.CREATE: create,
    Step.START: _start,
    Step.WAIT_READY: wait_ready,
    Step.SMOKE: smoke,
    Step.UNDO: undo,
}
_ON_OLD = {
    Step.STOP_OLD: stop_old,
    Step.REMOVE_OLD: remove_old,
    Step.RESTORE_OLD: restore_old,
}


def deploy(rollout: Rollout) -> None:
    """Continue a deployment where the journal says it stands.

    Raises:
        LeaseLostError: another worker owns the command.
    """
    failure = rollout.journal.failure()
    if failure is None:
        outcome = run_acts(
            rollout,
            deploy_acts(rollout),
            _perform,
            together=_together,
        )
        if outcome is None:
            _become_live(rollout)
        if isinstance(outcome, Failed):
            failure = decide_failure(rollout, outcome)
    if failure is not None:
        _go_back(rollout, failure)


def _together(rollout: Rollout, acts: Sequence[Act]) -> None:
    if acts[0].step in TOGETHER:
        do_together(rollout, acts)


def _perform(rollout: Rollout, act: Act) -> Done | Wait:
    if act.replica is None:
        return _ON_RELEASE[act.step](rollout, act)
    if act.step in _ON_OLD:
        return _on_old(rollout, act, _old_member(rollout, act))
    return _ON_MEMBER[act.step](rollout, act, rollout.member(act.replica))


def _on_old(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    try:
        return _ON_OLD[act.step](rollout, act, member)
    except DockerApiError as error:
        if act.step is Step.REMOVE_OLD and not error.retryable:
            return keep_old_for_later(rollout, member, error)
        raise


def _old_member(rollout: Rollout, act: Act) -> Member:
    return next(
        one
        for one in rollout.old_members
        if act.replica and one.row.pk == act.replica.pk
    )


def _become_live(rollout: Rollout) -> None:
    with rollout.claim.fenced():
        moved = Release.objects.filter(
            pk=rollout.release.pk, state=ReleaseState.VERIFYING
        ).update(
            state=ReleaseState.LIVE,
            state_since=Now(),
            live_at=Now(),
            deadline_at=None,
            cause_code="",
            cause="",
            next_action="",
        )
        if moved != 1:
            raise RuntimeError(f"{rollout.release} is no longer being verified")
        rollout.claim.finish(CommandState.DONE)
        stop_the_rest(rollout.release)
        tell_live(rollout.release)


def decide_failure(rollout: Rollout, failed: Failed) -> ReleaseEvent:
    """Write down for good that the release fails, and why, before anything is undone."""
    event = record_failure(rollout, failed)
    with rollout.claim.fenced():
        Release.objects.filter(pk=rollout.release.pk).update(
            cause_code=failed.error.code[:60],
            cause=event.message,
            next_action=failed.error.next_action,
        )
    return event


def record_failure(rollout: Rollout, failed: Failed) -> ReleaseEvent:
    """Write into the journal that an act failed for good, with all that is known of it."""
    error = failed.error
    member = None
    if failed.act.replica is not None:
        known = (*rollout.members, *rollout.old_members)
        member = next(one for one in known if one.row.pk == failed.act.replica.pk)
    with rollout.claim.fenced():
        return rollout.journal.write(
            failed.act,
            EventKind.FAILED,
            sentence(failed.act.step, member, error.cause),
            {
                **error.detail,
                "code": error.code,
                "next_action": error.next_action.document,
                "final": error.final.value,
            },
        )


def _go_back(rollout: Rollout, failure: ReleaseEvent) -> None:
    undone = run_acts(rollout, undo_acts(rollout), _perform, give_up=_give_up)
    if isinstance(undone, HandedBack):
        return
    final = ReleaseState(failure.detail["final"])
    told = [event.message for event in rollout.journal.done_events(Step.UNDO)]
    restored = rollout.journal.done_events(Step.RESTORE_OLD)
    serving = None
    with rollout.claim.fenced():
        if restored and not any("not_restored" in one.detail for one in restored):
            make_old_live(rollout)
            told.append(text("{old} serves again.", old=str(rollout.old)))
            serving = rollout.old
        else:
            told += [event.message for event in restored]
        cause = sentences(ended(failure.message), *told)
        Release.objects.filter(pk=rollout.release.pk, state__in=CHANGING_STATES).update(
            state=final,
            state_since=Now(),
            ended_at=Now(),
            deadline_at=None,
            cause_code=str(failure.detail["code"])[:60],
            cause=cause,
            next_action=failure.detail["next_action"],
        )
        rollout.claim.finish(
            CommandState.CANCELLED
            if final == ReleaseState.CANCELLED
            else CommandState.FAILED,
            cause,
        )
        stop_the_rest(rollout.release)
        if final == ReleaseState.CANCELLED:
            tell_ended(rollout.release, AuditAction.RELEASE_ENDED)
        else:
            tell_failed(rollout.release, str(failure.detail["code"])[:60])
        if serving is not None:
            tell_back(serving)


def _give_up(rollout: Rollout, act: Act, error: StepFailedError) -> Done:
    if act.step is Step.UNDO and act.replica is not None:
        return give_up_undoing(rollout.member(act.replica), error.cause)
    return not_restored(
        ended(sentence(act.step, _old_member(rollout, act), error.cause))
    )

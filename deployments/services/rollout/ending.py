"""UNDO, STOP and REMOVE: bring the containers of a release to an end, and free what they held."""

from deployments.docker_api.containers import inspect_container, remove_container
from deployments.models import ReleaseState
from deployments.planning.text import Text, ended, text
from deployments.services.emergency_stop import order_of
from deployments.services.log_reading import read_replica
from deployments.services.rollout.journal import Act, Step
from deployments.services.rollout.outcomes import Done, StepFailedError, Wait
from deployments.services.rollout.replacing import take_back
from deployments.services.rollout.rollout import (
    Member,
    Rollout,
    place,
    release_bookings,
    save_observed,
)
from deployments.services.rollout.stopping import Stopped, stop_container

UNDO_GRACE_S = 10


def undo(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """End one container that a failed or cancelled release made.

    One that ran is kept, stopped, so that its log can be read; others are removed.

    Raises:
        DockerApiError: the engine does not answer.
    """
    if not rollout.journal.intended(Act(Step.CREATE, member.row)):
        _free(rollout, member)
        return Done(text("{what} was never created.", what=place(member)))
    grace_s = min(UNDO_GRACE_S, member.planned.container.stop_grace_s)
    stopped = stop_container(
        rollout, member, act, digest=rollout.digest, grace_s=grace_s
    )
    if isinstance(stopped, Wait):
        return stopped
    failure = rollout.journal.failure()
    cancelled = (
        failure is not None and failure.detail["final"] == ReleaseState.CANCELLED
    )
    done = _leave_or_remove(rollout, member, stopped, remove=cancelled)
    _free(rollout, member)
    return done


def _leave_or_remove(
    rollout: Rollout, member: Member, stopped: Stopped, *, remove: bool
) -> Done:
    what = place(member)
    if stopped.facts is None:
        return Done(text("The container {what} is gone.", what=what))
    if stopped.facts.ever_started and not remove:
        return Done(
            text(
                "The stopped container {what} is left, so that its log can be read.",
                what=what,
            ),
            {"left": member.name},
        )
    with rollout.engine(member.host) as engine:
        remove_container(engine, stopped.facts.container_id)
    with rollout.claim.fenced():
        save_observed(member.row, None)
    return Done(text("The container {what} was removed again.", what=what))


def _free(rollout: Rollout, member: Member) -> None:
    """Give back to the old release what it needs, and free the rest."""
    with rollout.claim.fenced():
        for old in rollout.old_members:
            take_back(rollout, old)
        release_bookings(member.row)


def give_up_undoing(member: Member, cause: Text) -> Done:
    """What is said when a container cannot even be looked at: it may still run."""
    return Done(
        text(
            "The container {what} may still be there; its devices and ports stay held: {cause}",
            what=place(member),
            cause=ended(cause),
        ),
        {"left": member.name},
    )


def stop(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Stop one container with the grace of its plan, or sooner in an emergency; its log stays readable.

    Raises:
        StepFailedError: it does not end even after SIGKILL.
        DockerApiError: the engine does not answer.
    """
    grace_s = member.planned.container.stop_grace_s
    stopped = stop_container(
        rollout,
        member,
        act,
        digest=rollout.digest,
        grace_s=min(UNDO_GRACE_S, grace_s) if order_of(rollout.release) else grace_s,
    )
    if isinstance(stopped, Wait):
        return stopped
    with rollout.claim.fenced():
        release_bookings(member.row)
    if stopped.facts is None:
        return Done(text("The container {what} is gone.", what=place(member)))
    return Done(
        text("Stopped the container {what}.", what=place(member)),
        {"exit_code": stopped.facts.exit_code},
    )


def remove(rollout: Rollout, act: Act, member: Member) -> Done:
    """Remove one stopped container after reading the end of its log.

    Raises:
        StepFailedError: it runs; somebody started it outside the panel.
        DockerApiError: the engine does not answer.
    """
    del act
    if not member.row.container_id:
        _free(rollout, member)
        return Done(text("{what} has no container.", what=place(member)))
    with rollout.engine(member.host) as engine:
        facts = inspect_container(engine, member.row.container_id)
        if facts is not None and facts.running:
            raise StepFailedError(
                "still_running",
                text("the container runs; somebody started it outside the panel"),
                text("Stop the release, then remove it."),
            )
        if facts is not None:
            read_replica(engine, member.row, facts)
            remove_container(engine, facts.container_id)
    with rollout.claim.fenced():
        save_observed(member.row, None)
        release_bookings(member.row)
    return Done(text("Removed the container {what}.", what=place(member)))

"""STOP_OLD, SWITCH, REMOVE_OLD and the way back: one release gives way to the next."""

from django.db.models import F
from django.db.models.functions import Coalesce, Now

from deployments.docker_api.containers import (
    inspect_container,
    remove_container,
    start_container,
)
from deployments.docker_api.errors import DockerApiError
from deployments.models import Booking, EventKind, Release, ReleaseState, Replica
from deployments.planning.text import Text, said_by, sentences, text
from deployments.services.log_reading import read_replica
from deployments.services.restart_notes import close_restart_notes
from deployments.services.rollout.journal import Act, Step
from deployments.services.rollout.outcomes import Done, Wait
from deployments.services.rollout.rollout import (
    Member,
    Rollout,
    place,
    release_bookings,
    resources,
    save_observed,
)
from deployments.services.rollout.stopping import stop_container


def old_digest(rollout: Rollout) -> str:
    """The digest on the labels of the old release's containers."""
    return rollout.old.plan.digest if rollout.old is not None else ""


def stop_old(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Stop one container of the old release and keep it; its devices and ports change hands.

    Raises:
        DockerApiError: the engine does not answer.
    """
    stopped = stop_container(
        rollout,
        member,
        act,
        digest=old_digest(rollout),
        grace_s=member.planned.container.stop_grace_s,
    )
    if isinstance(stopped, Wait):
        return stopped
    with rollout.claim.fenced():
        _leave_live(rollout)
        _hand_over(rollout, member)
    return Done(
        text(
            "Stopped the old container {what}; it is kept until the new one is verified.",
            what=place(member),
        )
    )


def _leave_live(rollout: Rollout) -> None:
    Release.objects.filter(
        pk__in=[rollout.release.replaces_id], state=ReleaseState.LIVE
    ).update(state=ReleaseState.STOPPED, state_since=Now(), ended_at=Now())
    if rollout.old is not None:
        close_restart_notes(rollout.old)


def _hand_over(rollout: Rollout, old: Member) -> None:
    """Give what the stopped container held to the new replicas that need it."""
    for member in rollout.members:
        if member.host != old.host:
            continue
        for column, number in resources(member):
            Booking.objects.filter(
                replica=old.row, released_at=None, **{column: number}
            ).update(replica=member.row)


def switch(rollout: Rollout, act: Act) -> Done:
    """From here on the new release is the one that serves."""
    del act
    with rollout.claim.fenced():
        _leave_live(rollout)
    return Done(text("The new release serves from here on."))


def remove_old(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Stop and remove one container of the old release after reading the end of its log.

    Raises:
        DockerApiError: the engine does not answer.
    """
    stopped = stop_container(
        rollout,
        member,
        act,
        digest=old_digest(rollout),
        grace_s=member.planned.container.stop_grace_s,
    )
    if isinstance(stopped, Wait):
        return stopped
    if stopped.facts is not None:
        with rollout.engine(member.host) as engine:
            read_replica(engine, member.row, stopped.facts)
            remove_container(engine, stopped.facts.container_id)
    with rollout.claim.fenced():
        save_observed(member.row, None)
        release_bookings(member.row)
    return Done(text("Removed the old container {what}.", what=place(member)))


def keep_old_for_later(rollout: Rollout, member: Member, error: DockerApiError) -> Done:
    """The new release is verified: an old container that cannot be removed is only a warning."""
    warning = text(
        "The old container {what} could not be removed: {error}",
        what=place(member),
        error=said_by(error),
    )
    with rollout.claim.fenced():
        warnings = sentences(rollout.release.warning, warning)
        Release.objects.filter(pk=rollout.release.pk).update(warning=warnings)
        rollout.release.warning = warnings
    return Done(warning)


def restore_old(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Start one container of the old release again, after taking back what it held.

    Raises:
        DockerApiError: the engine does not answer or cannot start it.
    """
    del act
    unfinished = _finish_stopping(rollout, member)
    if unfinished is not None:
        return unfinished
    with rollout.claim.fenced():
        take_back(rollout, member)
    with rollout.engine(member.host) as engine:
        facts = inspect_container(engine, member.row.container_id)
        if facts is not None and not facts.running:
            start_container(engine, facts.container_id)
            facts = inspect_container(engine, facts.container_id)
    with rollout.claim.fenced():
        save_observed(member.row, facts)
        Replica.objects.filter(pk=member.row.pk).update(ready=facts is not None)
    what = place(member)
    if facts is None:
        return not_restored(text("The old container {what} is gone.", what=what))
    return Done(text("The old container {what} runs again.", what=what))


def not_restored(message: Text) -> Done:
    """The old release cannot serve as it did."""
    return Done(message, {"not_restored": True})


def _finish_stopping(rollout: Rollout, member: Member) -> Wait | None:
    """An old container that was signalled is on its way out: wait, or it would end after all."""
    act = Act(Step.STOP_OLD, member.row)
    journal = rollout.journal
    if journal.is_done(act) or "signalled_at_ms" not in journal.progress(act):
        return None
    stopped = stop_container(
        rollout,
        member,
        act,
        digest=old_digest(rollout),
        grace_s=member.planned.container.stop_grace_s,
    )
    if isinstance(stopped, Wait):
        return stopped
    with rollout.claim.fenced():
        _leave_live(rollout)
        journal.write(act, EventKind.DONE, text("It had been signalled and ended."))
    return None


def take_back(rollout: Rollout, old: Member) -> None:
    """Give an old replica what it held before; call within ``fenced``."""
    for column, number in resources(old):
        Booking.objects.filter(
            host=old.host,
            replica__release=rollout.release,
            released_at=None,
            **{column: number},
        ).update(replica=old.row)


def make_old_live(rollout: Rollout) -> None:
    """The old release serves again; call within ``fenced``."""
    Release.objects.filter(
        pk__in=[rollout.release.replaces_id], state=ReleaseState.STOPPED
    ).update(
        state=ReleaseState.LIVE,
        state_since=Now(),
        live_at=Coalesce(F("live_at"), Now()),
        ended_at=None,
    )

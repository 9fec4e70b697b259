"""Stop a container without waiting for it in one call: signal, look again, kill after the grace."""

import time
from dataclasses import dataclass

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    ContainerFacts,
    inspect_container,
    signal_container,
)
from deployments.planning.text import text
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import StepFailedError, Wait
from deployments.services.rollout.rollout import (
    Member,
    Rollout,
    is_ours,
    save_observed,
)

LOOK_AGAIN_S = 0.5
KILLED_LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Stopped:
    """The container does not run; ``facts`` is ``None`` if there is none."""

    facts: ContainerFacts | None


def own_container(engine: Engine, member: Member, digest: str) -> ContainerFacts | None:
    """The replica's container, by id or by name; ``None`` if that name is somebody else's."""
    if member.row.container_id:
        return inspect_container(engine, member.row.container_id)
    facts = inspect_container(engine, member.name)
    return facts if facts is not None and is_ours(facts, member, digest) else None


def stop_container(
    rollout: Rollout, member: Member, act: Act, *, digest: str, grace_s: float
) -> Stopped | Wait:
    """Bring a container to its end, over as many slices as it takes.

    The time of the first signal is kept in the journal, so that the grace is given once.

    Raises:
        StepFailedError: it does not end even after SIGKILL.
        LeaseLostError: another worker owns the command.
        DockerApiError: the engine does not answer or answers an error.
    """
    with rollout.engine(member.host) as engine:
        facts = own_container(engine, member, digest)
        if facts is None or not facts.running:
            with rollout.claim.fenced():
                save_observed(member.row, facts)
            return Stopped(facts)
        signalled_at_ms = rollout.journal.progress(act).get("signalled_at_ms")
        if not isinstance(signalled_at_ms, int):
            signal_container(engine, facts.container_id, facts.stop_signal)
            with rollout.claim.fenced():
                rollout.journal.note_progress(act, {"signalled_at_ms": _now_ms()})
        elif _now_ms() - signalled_at_ms > (grace_s + KILLED_LIMIT_S) * 1000:
            raise StepFailedError(
                "cannot_stop",
                text("the container does not end even after SIGKILL"),
                text(
                    "Look at the host: a driver call may hang; a reboot may be needed."
                ),
            )
        elif _now_ms() - signalled_at_ms > grace_s * 1000:
            signal_container(engine, facts.container_id, "SIGKILL")
    return Wait(LOOK_AGAIN_S)


def _now_ms() -> int:
    return int(time.time() * 1000)

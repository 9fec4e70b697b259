"""What became of the containers of our replicas, and what that means for their releases."""

import logging
import uuid

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts, inspect_container
from deployments.docker_api.errors import DockerApiError
from deployments.models import (
    CHANGING_STATES,
    Host,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.planning.text import NOTHING, sentences, text
from deployments.selectors.plans import stored_plan
from deployments.services.host_access import note_certificate, open_host
from deployments.services.observation import (
    look_at,
    store_observation,
    store_unreachable,
)
from deployments.services.rollout.failures import exit_failure
from deployments.services.rollout.journal import note
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.probe import endpoint_of, is_healthy
from deployments.services.rollout.rollout import (
    members_of,
    release_bookings,
    save_observed,
)

logger = logging.getLogger(__name__)

OBSERVED = "OBSERVED"


def hosts_to_observe() -> list[uuid.UUID]:
    """All hosts, for one task each."""
    return list(Host.objects.values_list("pk", flat=True))


def observe_host(host_id: uuid.UUID) -> None:
    """Look at a host and at the containers of our replicas there; level-triggered, safe to repeat.

    Releases that a command is working on are left to it.
    """
    host = Host.objects.get(pk=host_id)
    try:
        with open_host(host) as engine:
            if not store_observation(host, look_at(engine)):
                _lose_sight(host)
                return
            note_certificate(host, engine)
            for replica in _settled(host):
                _look_at_replica(engine, replica)
    except DockerApiError as error:
        logger.info("host not observed", extra={"host": host.name, "code": error.code})
        store_unreachable(host, error)
        _lose_sight(host)


def _settled(host: Host) -> QuerySet[Replica]:
    """Replicas that may have a container, of deployments that nobody is changing now."""
    changing = Release.objects.filter(state__in=CHANGING_STATES).values("deployment")
    return (
        Replica.objects.filter(host=host)
        .exclude(container_id="")
        .exclude(state=ReplicaState.REMOVED)
        .exclude(release__deployment__in=changing)
        .select_related("release__deployment", "release__plan", "host")
    )


def _lose_sight(host: Host) -> None:
    """Unknown is a state: what was seen last is kept in time and bookings, nothing is freed."""
    _settled(host).filter(
        state__in=[ReplicaState.RUNNING, ReplicaState.CREATED]
    ).update(state=ReplicaState.UNKNOWN, ready=False)


def _look_at_replica(engine: Engine, replica: Replica) -> None:
    before, started_before = replica.state, replica.started_at
    facts = inspect_container(engine, replica.container_id)
    running = facts is not None and facts.running
    live = replica.release.state == ReleaseState.LIVE
    failure = _why(engine, facts) if live and not running else None
    ready = live and running and _answers(replica)
    with transaction.atomic():
        save_observed(replica, facts)
        Replica.objects.filter(pk=replica.pk).update(ready=ready)
        if not running:
            release_bookings(replica)
        if failure is not None:
            _fail_live(replica, failure)
        elif running and facts is not None:
            _warn(replica, facts, before, started_before)


def _answers(replica: Replica) -> bool:
    """Whether it is healthy now; shown, and no reason to restart anything."""
    members = members_of(replica.release, stored_plan(replica.release.plan))
    member = next(one for one in members if one.row.pk == replica.pk)
    endpoint = endpoint_of(member)
    return endpoint is None or is_healthy(endpoint)


def _why(engine: Engine, facts: ContainerFacts | None) -> StepFailedError:
    if facts is None:
        return StepFailedError(
            "removed_outside",
            text("somebody removed the container outside the panel"),
            text("Release the plan again."),
        )
    return exit_failure(engine, facts)


def _fail_live(replica: Replica, failure: StepFailedError) -> None:
    cause = text(
        "{name} on {host}: {cause}",
        name=replica.container_name,
        host=replica.host.name,
        cause=failure.cause,
    )
    failed = Release.objects.filter(
        pk=replica.release_id, state=ReleaseState.LIVE
    ).update(
        state=ReleaseState.FAILED,
        state_since=Now(),
        ended_at=Now(),
        cause_code=failure.code[:60],
        cause=cause,
        next_action=failure.next_action,
    )
    if failed == 1:
        note(replica.release, OBSERVED, cause, {**failure.detail, "code": failure.code})


def _warn(
    replica: Replica, facts: ContainerFacts, before: str, started_before: str
) -> None:
    """Say what somebody did outside the panel; never fight with them."""
    message = NOTHING
    name, host = replica.container_name, replica.host.name
    if facts.state == "paused":
        message = text(
            "{name} on {host} was paused outside the panel.", name=name, host=host
        )
    elif replica.release.state != ReleaseState.LIVE and before != ReplicaState.RUNNING:
        message = text(
            "{name} on {host} was started outside the panel; the release has ended.",
            name=name,
            host=host,
        )
    elif started_before not in {"", facts.started_at}:
        message = text(
            "{name} on {host} was restarted outside the panel.", name=name, host=host
        )
    if message and message not in replica.release.warning:
        warnings = sentences(replica.release.warning, message)
        Release.objects.filter(pk=replica.release_id).update(warning=warnings)
        note(replica.release, OBSERVED, message, {"state": facts.state})

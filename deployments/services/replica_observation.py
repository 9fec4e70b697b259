"""What became of the containers of our replicas, and what that means for their releases."""

import logging
import uuid
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    ContainerFacts,
    ListedContainer,
    inspect_container,
    list_containers,
)
from deployments.docker_api.errors import (
    DockerApiError,
    EngineFaultError,
    NotTriedError,
)
from deployments.models import (
    CHANGING_STATES,
    Booking,
    DriftKind,
    Host,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.planning.text import sentences, text
from deployments.selectors.plans import stored_plan
from deployments.services.drift import (
    RESTORE,
    Drift,
    drift_of,
    should_run,
    started_again,
    store_drift,
    strangers_among,
)
from deployments.services.host_access import note_certificate, open_host
from deployments.services.host_calls import resting
from deployments.services.observation import (
    look_at,
    store_faulty,
    store_observation,
    store_unreachable,
)
from deployments.services.restart_notes import note_restart
from deployments.services.rollout.failures import exit_failure
from deployments.services.rollout.journal import OBSERVED, note
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.probe import endpoint_of, is_healthy
from deployments.services.rollout.rollout import (
    INSTANCE_LABEL,
    Member,
    members_of,
    release_bookings,
    resources,
    save_observed,
)

logger = logging.getLogger(__name__)


def hosts_to_observe() -> list[uuid.UUID]:
    """All hosts that may be called now, for one task each."""
    return list(Host.objects.exclude(resting()).values_list("pk", flat=True))


def hosts_to_watch() -> list[uuid.UUID]:
    """Hosts with a container that somebody could stop, start, rename or remove."""
    return list(_settled().order_by().values_list("host", flat=True).distinct())


def observe_host(host_id: uuid.UUID) -> None:
    """Look at a host and at the containers of our replicas there; level-triggered, safe to repeat.

    Releases that a command is working on are left to it.
    """
    host = Host.objects.get(pk=host_id)
    try:
        with open_host(host) as engine:
            seen = look_at(engine)
            if not store_observation(host, seen):
                _lose_sight(host)
                return
            note_certificate(host, engine)
            strangers = strangers_among(host, seen.containers)
            if strangers != host.strangers:
                Host.objects.filter(pk=host.pk).update(strangers=strangers)
            for replica in _settled().filter(host=host):
                _look_at_replica(engine, replica, seen.containers)
    except NotTriedError:
        logger.info("host not called", extra={"host": host.name})
    except EngineFaultError as error:
        store_faulty(host, error)
        _lose_sight(host)
    except DockerApiError as error:
        logger.info("host not observed", extra={"host": host.name, "code": error.code})
        store_unreachable(host, error)
        _lose_sight(host)


def watch_host(host_id: uuid.UUID) -> None:
    """List our containers on a host, in one call, and observe the host if any is not as last seen."""
    host = Host.objects.get(pk=host_id)
    try:
        with open_host(host) as engine:
            label = f"{INSTANCE_LABEL}={host.pk}"
            listed = {
                one.container_id: one for one in list_containers(engine, label=label)
            }
    except NotTriedError:
        return
    except DockerApiError:
        observe_host(host_id)
        return
    settled = _settled().filter(host=host)
    if any(_looks_new(one, listed.get(one.container_id)) for one in settled):
        observe_host(host_id)


def _looks_new(replica: Replica, seen: ListedContainer | None) -> bool:
    if replica.state == ReplicaState.UNKNOWN:
        return True
    if seen is None:
        return replica.state != ReplicaState.REMOVED
    if seen.running is not (replica.state == ReplicaState.RUNNING):
        return True
    paused = seen.running and seen.state == "paused"
    renamed = seen.running and seen.name != replica.container_name
    before = replica.drift
    if paused is not (before == DriftKind.PAUSED):
        return before != DriftKind.STARTED
    return (
        not paused
        and renamed is not (before == DriftKind.RENAMED)
        and (before != DriftKind.STARTED)
    )


def _settled() -> QuerySet[Replica]:
    """Replicas that may have a container, of deployments that nobody is changing now."""
    changing = Release.objects.filter(state__in=CHANGING_STATES).values("deployment")
    return (
        Replica.objects.exclude(container_id="")
        .filter(~Q(state=ReplicaState.REMOVED) | ~Q(drift=""))
        .exclude(release__deployment__in=changing)
        .select_related("release__deployment", "release__plan", "host")
    )


def _lose_sight(host: Host) -> None:
    """Unknown is a state: what was seen last is kept in time and bookings, nothing is freed."""
    _settled().filter(
        host=host, state__in=[ReplicaState.RUNNING, ReplicaState.CREATED]
    ).update(state=ReplicaState.UNKNOWN, ready=False)


def _look_at_replica(
    engine: Engine, replica: Replica, containers: Sequence[ListedContainer]
) -> None:
    started_before = replica.started_at
    facts = inspect_container(engine, replica.container_id)
    live = replica.release.state == ReleaseState.LIVE
    # The plan of a release that ended long ago may be one that this panel no longer reads.
    member = _member(replica) if should_run(replica.release) else None
    drift = _drift(member, facts, containers) if member else None
    if facts is None or not facts.running:
        failure = _why(engine, facts, drift) if live and drift else None
        with transaction.atomic():
            save_observed(replica, facts)
            release_bookings(replica)
            if drift and failure:
                drift = _fail_live(replica, failure, drift)
            _keep(replica, drift)
        return
    ready = member is not None and live and _answers(member)
    with transaction.atomic():
        save_observed(replica, facts)
        Replica.objects.filter(pk=replica.pk).update(ready=ready)
        if live:
            _warn(replica, facts, started_before)
        elif member:
            drift = _hold_again(member) or drift
        else:
            drift = started_again(replica)
        _keep(replica, drift)
    if member and not live:
        _recover(replica.release)


def _drift(
    member: Member,
    facts: ContainerFacts | None,
    containers: Sequence[ListedContainer],
) -> Drift | None:
    return drift_of(member.row, member.planned.container, facts, containers)


def _keep(replica: Replica, drift: Drift | None) -> None:
    """Store the drift; why a container stopped was said when it was seen, and stays."""
    stopped = drift is not None and drift.kind == DriftKind.STOPPED
    if not (stopped and replica.drift == DriftKind.STOPPED):
        store_drift(replica, drift)


def _member(replica: Replica) -> Member:
    members = members_of(replica.release, stored_plan(replica.release.plan))
    return next(one for one in members if one.row.pk == replica.pk)


def _answers(member: Member) -> bool:
    """Whether it is healthy now; shown, and no reason to restart anything."""
    endpoint = endpoint_of(member)
    return endpoint is None or is_healthy(endpoint)


def _why(engine: Engine, facts: ContainerFacts | None, drift: Drift) -> StepFailedError:
    if facts is None:
        return StepFailedError(f"{drift.kind}_outside", drift.said, drift.action)
    return exit_failure(engine, facts)


def _fail_live(replica: Replica, failure: StepFailedError, drift: Drift) -> Drift:
    """End a live release whose container does not run; returns the drift with the cause in it."""
    cause = failure.cause
    if drift.said != cause:
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
    if drift.kind != DriftKind.STOPPED:
        return drift
    return Drift(drift.kind, cause, sentences(failure.next_action, RESTORE))


def _hold_again(member: Member) -> Drift | None:
    """Book again what a container holds that somebody started again; the drift if another has it."""
    for column, number in resources(member):
        held = {"host": member.host, "released_at": None, column: number}
        if Booking.objects.filter(replica=member.row, **held).exists():
            continue
        try:
            with transaction.atomic():
                Booking.objects.create(
                    host=member.host, replica=member.row, **{column: number}
                )
        except IntegrityError:
            release_bookings(member.row)
            return started_again(
                member.row,
                text("Another deployment has booked its devices or ports meanwhile."),
            )
    return None


def _recover(release: Release) -> None:
    """A lost release of which every container runs again serves again."""
    said = text("Every container runs again, so the release serves again.")
    with transaction.atomic():
        rows = Release.objects.select_for_update().filter(
            pk=release.pk, state=ReleaseState.FAILED
        )
        if not rows.exists() or not should_run(release):
            return
        replicas = release.replicas.all()
        if any(
            one.state != ReplicaState.RUNNING or one.drift == DriftKind.STARTED
            for one in replicas
        ):
            return
        Release.objects.filter(pk=release.pk).update(
            state=ReleaseState.LIVE,
            state_since=Now(),
            ended_at=None,
            cause_code="",
            cause="",
            next_action="",
        )
        note(release, OBSERVED, said, {"recovered": True})


def _warn(replica: Replica, facts: ContainerFacts, started_before: str) -> None:
    """Say that somebody restarted it outside the panel."""
    if started_before not in {"", facts.started_at}:
        note_restart(replica, facts.state)

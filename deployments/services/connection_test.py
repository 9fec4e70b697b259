"""Walk the way to a host step by step and keep what each step found; runs in a worker."""

import logging
import uuid
from collections.abc import Iterator
from datetime import datetime

from django.db.models import F, Q
from django.db.models.functions import Now
from pydantic import JsonValue as Json

from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.walking import Passed, Step, StepState, steps_to, walk
from deployments.docker_api.way_errors import HostKeyError
from deployments.models import Host
from deployments.models.fleet import HostAccess
from deployments.planning.text import Text, said_by, text
from deployments.services.host_access import access_for, open_host
from deployments.services.observation import (
    Observation,
    look_at,
    store_observation,
    store_unreachable,
)

logger = logging.getLogger(__name__)
CLOCK_TOLERATED_MS = 2000


def hosts_to_test() -> list[uuid.UUID]:
    """Hosts whose test was asked for and has no result yet."""
    rows = HostAccess.objects.filter(
        Q(tested_at=None) | Q(tested_at__lt=F("test_asked_at")),
        test_asked_at__isnull=False,
    )
    return list(rows.values_list("host_id", flat=True))


def run_connection_test(host_id: uuid.UUID) -> None:
    """Test one host; safe to repeat, the newest result stays."""
    host = Host.objects.filter(pk=host_id).first()
    if host is None:
        return
    rows: list[Json] = []
    offered = ""
    ends: datetime | None = None
    steps = _planned(host)
    try:
        for done in _walk_all(host):
            rows.append(_row(done.step, done.state, done.sentence))
            ends = done.ends or ends
    except DockerApiError as error:
        offered = error.offered if isinstance(error, HostKeyError) else ""
        failed = steps[min(len(rows), len(steps) - 1)]
        rows.append(_row(failed, StepState.FAILED, said_by(error)))
        store_unreachable(host, error)
        logger.info("host test failed", extra={"host": host.name, "code": error.code})
    rows += [_row(step, StepState.NOT_REACHED, None) for step in steps[len(rows) :]]
    HostAccess.objects.filter(host=host).update(
        steps=rows, tested_at=Now(), offered_host_key=offered
    )
    if ends is not None:
        HostAccess.objects.filter(host=host).update(server_expires_at=ends)


def _planned(host: Host) -> tuple[Step, ...]:
    try:
        return steps_to(host.docker_address)
    except DockerApiError:
        return (Step.NAME,)


def _walk_all(host: Host) -> Iterator[Passed]:
    yield from walk(host.docker_address, host=host.name, access=access_for(host))
    with open_host(host, insists=True) as engine:
        yield Passed(
            step=Step.API,
            sentence=text(
                "A Docker Engine answers with API {version}.",
                version=str(engine.api.api_version),
            ),
        )
        seen = look_at(engine)
    yield Passed(
        step=Step.RIGHTS,
        sentence=text(
            "Docker {version} lists its containers and images to the panel.",
            version=seen.engine.version,
        ),
    )
    yield _identity(host, seen)
    yield _clock(seen)


def _identity(host: Host, seen: Observation) -> Passed:
    if store_observation(host, seen):
        sentence = text(
            "It is the Docker Engine {id} that is registered here.",
            id=seen.engine.engine_id,
        )
        return Passed(step=Step.IDENTITY, sentence=sentence)
    return Passed(step=Step.IDENTITY, sentence=host.reason, state=StepState.FAILED)


def _clock(seen: Observation) -> Passed:
    offset = seen.clock_offset_ms
    if offset is None:
        return Passed(
            step=Step.CLOCK,
            sentence=text("It does not tell its time."),
            state=StepState.NOTED,
        )
    if abs(offset) > CLOCK_TOLERATED_MS:
        return Passed(
            step=Step.CLOCK,
            state=StepState.NOTED,
            sentence=text(
                "Its clock differs by {ms} ms, so times of samples mislead: start chrony or "
                "systemd-timesyncd there.",
                ms=offset,
            ),
        )
    return Passed(
        step=Step.CLOCK,
        sentence=text("Its clock differs by {ms} ms from the panel's.", ms=offset),
    )


def _row(step: Step, state: StepState, sentence: Text | None) -> Json:
    return {
        "step": str(step),
        "state": str(state),
        "sentence": sentence.document if sentence else None,
    }

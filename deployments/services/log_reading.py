"""Read what containers logged since the last look; samples and cursor in one transaction.

A run of a container is (container id, StartedAt). What was said before a restart belongs to the
run before it, and its end is read once more when a newer run is seen, before the newer one is. The
engine stamps a line when it takes it, which may be after it noted the end of its process, and a
container may start again between two questions: a run begins behind everything that was read.
"""

import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from itertools import islice

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts, inspect_container
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.frames import timestamp_ns
from deployments.docker_api.logs import (
    LogIncrement,
    LogRange,
    StreamCursor,
    amount_of,
    bytes_of,
    read_since,
)
from deployments.models import (
    AcceptanceSample,
    Host,
    LogCursor,
    LogGap,
    Reachability,
    Replica,
    ReplicaState,
)
from deployments.services.fault_points import fault_point
from deployments.services.file_logs import read_file_log
from deployments.services.host_access import open_host
from deployments.services.log_runs import (
    ROTATED,
    FirstLook,
    OvertakenError,
    Run,
    sample_row,
)
from deployments.services.log_samples import MARKS, samples_of
from deployments.services.metrics_reading import scrape
from deployments.services.run_counts import cursor_of, fill_in, locked

logger = logging.getLogger(__name__)

STREAMS = ("stdout", "stderr")
MEASURED_S = 60
MOST_ANSWERS = 4
MOST_INCREMENTS = 32
"""Of one answer; more than the engine keeps of a log by default."""


def hosts_to_read() -> list[uuid.UUID]:
    """The hosts that have something to read, for one task each."""
    return list(
        Replica.objects.filter(_readable())
        .exclude(host__reachability=Reachability.DIFFERENT_ENGINE)
        .order_by("host_id")
        .values_list("host_id", flat=True)
        .distinct()
    )


def read_host_logs(host_id: uuid.UUID) -> int:
    """Read log and counters of every container of one host that may have said something.

    Returns new samples.

    A host that does not answer is left for the next round; observation says so on the page.
    """
    host = Host.objects.get(pk=host_id)
    replicas = Replica.objects.filter(_readable(), host=host).select_related(
        "host", "release__deployment", "release__plan"
    )
    read = 0
    running = []
    try:
        with open_host(host) as engine:
            for replica in replicas:
                facts = inspect_container(engine, replica.container_id)
                if facts is not None:
                    read += read_replica(engine, replica, facts)
                    running.append((replica, facts))
    except DockerApiError as error:
        logger.warning("logs not read", extra={"host": host.name, "code": error.code})
    # After the log: its windows keep their own time, the counters tell the rest.
    return read + scrape(host, running)


def _readable() -> Q:
    """Containers that run, and once more those that have ended."""
    running = Q(state=ReplicaState.RUNNING)
    unfinished = Q(state=ReplicaState.EXITED) & (
        Q(cursors__isnull=True) | Q(cursors__finished=False)
    )
    return ~Q(container_id="") & (running | unfinished)


def read_replica(engine: Engine, replica: Replica, facts: ContainerFacts) -> int:
    """Read a container from its cursors to its newest line; returns new samples.

    Harmless beside another reader of the same container: one of the two stores nothing.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    if not facts.ever_started:
        return 0
    read = 0
    try:
        for run in _runs(replica, facts):
            for _answer in range(MOST_ANSWERS):
                stored, more = _read_answer(engine, run)
                read += stored
                if not more:
                    break
            else:
                break  # the next round goes on here: a later run begins where this one ends
    except OvertakenError:
        logger.info("log cursor overtaken", extra={"container": facts.name})
    return read + read_file_log(engine, replica, facts)


def _runs(replica: Replica, facts: ContainerFacts) -> list[Run]:
    """Earlier runs of the same container that are not finished, then the present one."""
    known = _cursors_of(facts.container_id)
    earlier = sorted(
        {row.run_started_at for row in known if not row.finished} - {facts.started_at}
    )
    boundary = (
        _boundary(facts)
        if known.exclude(run_started_at=facts.started_at).exists()
        else 0
    )
    runs = [
        Run(
            replica=replica,
            container_id=facts.container_id,
            started_at=started_at,
            until_ns=boundary,
            ended=True,
        )
        for started_at in earlier
    ]
    present = Run(
        replica=replica,
        container_id=facts.container_id,
        started_at=facts.started_at,
        from_ns=boundary,
        ended=not facts.running,
        kept_bytes=facts.kept_log_bytes,
    )
    return [*runs, present]


def _boundary(facts: ContainerFacts) -> int:
    """Where the present run begins: where the one before it ended, by the engine's clock."""
    started = timestamp_ns(facts.started_at) or 0
    finished = timestamp_ns(facts.finished_at) or 0
    return finished if 0 < finished < started else started


def _cursors_of(container_id: str) -> QuerySet[LogCursor]:
    return LogCursor.objects.filter(container_id=container_id)


def _read_answer(engine: Engine, run: Run) -> tuple[int, bool]:
    """Read one answer and store its increments; returns new samples and whether there is more.

    An answer may end early, as when the engine is killed, and looks whole then. So a run has been
    read to its end when an answer brought nothing new and the engine still lives after it.
    """
    rows = _open_cursors(run)
    if all(row.finished for row in rows.values()):
        return 0, False
    until_ns = run.until_ns
    if until_ns is not None:
        until_ns = max(until_ns, 1 + max(row.timestamp_ns for row in rows.values()))
    increments = read_since(
        engine,
        run.container_id,
        {stream: _value(row) for stream, row in rows.items()},
        LogRange(
            until_ns=until_ns, final=run.ended, clock_ns=_clock_ns(run.replica.host)
        ),
        marks=MARKS,
    )
    stored, more = 0, False
    read_before = any(row.timestamp_ns or row.line_hash for row in rows.values())
    first_look = None if read_before else FirstLook(run)
    with closing(increments):
        for increment in islice(increments, MOST_INCREMENTS):
            if increment.lines or run.ended:
                _require_same_run(engine, run)
            more = increment.more or (run.ended and bool(increment.lines))
            if first_look and (lost := first_look.lost(increment)):
                increment = replace(increment, lost=lost)  # noqa: PLW2901
            stored += _store(run, rows, increment, finished=run.ended and not more)
    return stored, more


def _clock_ns(host: Host) -> int:
    """What the clock of the host shows, as it differed from ours when it was last compared."""
    return time.time_ns() + (host.clock_offset_ms or 0) * 10**6


def _require_same_run(engine: Engine, run: Run) -> None:
    """See that no line of a later run was read as one of this run.

    Raises:
        OvertakenError: the container started again meanwhile; the next round tells the runs apart.
        DockerApiError: the engine does not live any more, so that its answer may be cut off.
    """
    facts = inspect_container(engine, run.container_id)
    if facts is None or run.until_ns is not None:
        return
    if facts.started_at != run.started_at:
        raise OvertakenError


def _open_cursors(run: Run) -> dict[str, LogCursor]:
    """The cursor rows of a run; both streams have one from the first look on."""
    known = _cursors_of(run.container_id).filter(run_started_at=run.started_at)
    rows = {row.stream: row for row in known}
    for stream in STREAMS:
        if stream not in rows:
            rows[stream], _made = LogCursor.objects.get_or_create(
                container_id=run.container_id,
                run_started_at=run.started_at,
                stream=stream,
                defaults={"replica": run.replica, **_begin(run, stream)},
            )
    return rows


def _begin(run: Run, stream: str) -> dict[str, int | str]:
    """Where a run begins: behind the last line of those before it, which is then all of them.

    That line has to be seen again: what was thrown away since it was read is a gap, even where
    the runs have changed meanwhile.
    """
    others = _cursors_of(run.container_id).exclude(run_started_at=run.started_at)
    last = others.filter(stream=stream).order_by("-timestamp_ns").first()
    if last is None:
        return {"timestamp_ns": run.from_ns}
    return {
        "timestamp_ns": last.timestamp_ns,
        "same_timestamp": last.same_timestamp,
        "line_hash": last.line_hash,
    }


def _value(row: LogCursor) -> StreamCursor:
    return StreamCursor(
        timestamp_ns=row.timestamp_ns,
        same_timestamp=row.same_timestamp,
        line_hash=row.line_hash,
    )


def _store(
    run: Run, rows: Mapping[str, LogCursor], increment: LogIncrement, *, finished: bool
) -> int:
    """Samples, gap and cursors together, or nothing.

    Raises:
        OvertakenError: a cursor is no longer where it was read from.
    """
    found = list(samples_of(increment))
    counts = cursor_of(run.replica, run.container_id, run.started_at)
    with transaction.atomic():
        # First, since it is what decides between two readers of the same lines.
        for stream, row in rows.items():
            row.kept_bytes = run.kept_bytes
            _advance(row, stream, increment, finished=finished)
        # Whatever is missing is missing before a line, or before the end of the run.
        lost = increment.lost if increment.lines or finished else None
        gap = lost is not None
        fills = fill_in(locked(counts), found, lost=gap) if found or gap else []
        samples = [sample_row(run, sample, fill) for sample, fill in fills]
        AcceptanceSample.objects.bulk_create(
            samples, batch_size=500, ignore_conflicts=True
        )
        if lost is not None:
            LogGap.objects.get_or_create(
                container_id=run.container_id,
                from_ns=lost.from_ns,
                to_ns=lost.to_ns,
                defaults={"replica": run.replica, "reason": ROTATED},
            )
        fault_point("after:SAMPLES")
    return len(samples)


def _advance(
    row: LogCursor, stream: str, increment: LogIncrement, *, finished: bool
) -> None:
    """Move a cursor on, only if it is still where it was.

    Raises:
        OvertakenError: it is not.
    """
    cursor = increment.cursors[stream]
    same = LogCursor.objects.filter(
        pk=row.pk,
        timestamp_ns=row.timestamp_ns,
        same_timestamp=row.same_timestamp,
        finished=False,
    )
    row.timestamp_ns = cursor.timestamp_ns
    row.same_timestamp = cursor.same_timestamp
    row.line_hash = cursor.line_hash
    row.lines_read += amount_of(increment.lines, stream)
    _measure(row, bytes_of(increment.lines, stream))
    moved = same.update(
        timestamp_ns=row.timestamp_ns,
        same_timestamp=row.same_timestamp,
        line_hash=row.line_hash,
        lines_read=row.lines_read,
        read_at=Now(),
        finished=finished,
        measured_from=row.measured_from,
        measured_bytes=row.measured_bytes,
        bytes_per_s=row.bytes_per_s,
        kept_bytes=row.kept_bytes,
    )
    if moved != 1:
        raise OvertakenError


def _measure(row: LogCursor, came_bytes: int) -> None:
    """Count what comes, and every minute say how fast; what was there at the first look is no pace."""
    now = timezone.now()
    if row.measured_from is None:
        row.measured_from = now
        return
    row.measured_bytes += came_bytes
    took_s = (now - row.measured_from).total_seconds()
    if took_s >= MEASURED_S:
        row.bytes_per_s = row.measured_bytes / took_s
        row.measured_from, row.measured_bytes = now, 0

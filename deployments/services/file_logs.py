"""Read logs that engines write to files, as those on standard output: each line once, gaps declared."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.file_logs import (
    FileCursor,
    FileIncrement,
    FileStat,
    NoLogFileError,
    read_on,
    stat_file,
)
from deployments.docker_api.frames import timestamp_ns
from deployments.docker_api.logs import LogIncrement, LogLine
from deployments.models import (
    AcceptanceSample,
    FileLog,
    FileLogCursor,
    LogGap,
    Replica,
)
from deployments.models.file_log import path_in
from deployments.services.fault_points import fault_point
from deployments.services.log_runs import ROTATED, OvertakenError, Run, sample_row
from deployments.services.log_samples import (
    MARKS,
    FoundSample,
    samples_of,
)
from deployments.services.run_counts import cursor_of, fill_in, locked
from deployments.telemetry.logs.file_times import moments_of, zone_of
from deployments.telemetry.logs.lines import parse_line

FILE = "file"
MISSING, NO_LOG = "missing", "no_log_file"
MOST_READS = 8
"""Of 16 MB in one round; a container that has ended is read to the end."""
STAMP_NS = 2_000_000_000
"""Stamps in logs are cut to the second, and the engine notes a start a little late."""
LARGE = 64 * 1024 * 1024
LARGE_EVERY = timedelta(seconds=60)
"""The engine answers a file from its start, so a large one is not read every round."""
_MARKS = tuple(mark.encode("ascii") for mark in MARKS)


def read_file_log(engine: Engine, replica: Replica, facts: ContainerFacts) -> int:
    """Read the log file of a container from where it was read to; returns new samples.

    Without a file that was named for its deployment nothing is looked at.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    named = FileLog.objects.filter(deployment=replica.release.deployment_id)
    written = named.values_list("path", flat=True).first()
    if written is None:
        return 0
    path = path_in(written, replica.role, replica.rank)
    try:
        stat = stat_file(engine, facts.container_id, path)
    except NoLogFileError:
        stat = None
        problem = NO_LOG
    else:
        problem = "" if stat else MISSING
    return sum(
        _read_run(engine, run, path, stat, problem) for run in _runs(replica, facts)
    )


def _runs(replica: Replica, facts: ContainerFacts) -> list[Run]:
    """Earlier runs that are not finished, then the present one.

    What stands in the file when a new run is first seen was written by the run before: an engine
    loads for longer than a round takes before it drafts.
    """
    known = FileLogCursor.objects.filter(
        container_id=facts.container_id, finished=False
    ).exclude(run_started_at=facts.started_at)
    earlier = known.order_by("run_started_at").values_list("run_started_at", flat=True)
    return [
        *(
            Run(
                replica=replica,
                container_id=facts.container_id,
                started_at=started_at,
                ended=True,
            )
            for started_at in earlier
        ),
        Run(
            replica=replica,
            container_id=facts.container_id,
            started_at=facts.started_at,
            ended=not facts.running,
        ),
    ]


def _read_run(
    engine: Engine, run: Run, path: str, stat: FileStat | None, problem: str
) -> int:
    row = _cursor(run, path)
    if row.finished:
        return 0
    if stat is None:
        _look(row, problem=problem, finished=run.ended)
        return 0
    if not run.ended and _may_wait(row, stat):
        return 0
    try:
        return _read_on(engine, run, row, stat)
    except NoLogFileError:
        _look(row, problem=NO_LOG, finished=False)
    return 0


def _read_on(engine: Engine, run: Run, row: FileLogCursor, stat: FileStat) -> int:
    read = 0
    for _turn in range(MOST_READS * (8 if run.ended else 1)):
        increment = read_on(
            engine, run.container_id, row.path, _value(row), final=run.ended
        )
        if increment is None:
            _look(row, problem=MISSING, finished=run.ended)
            return read
        try:
            read += _store(run, row, stat, increment)
        except OvertakenError:
            return read
        row.refresh_from_db()
        if not increment.more:
            return read
    return read


def _cursor(run: Run, path: str) -> FileLogCursor:
    """The cursor of a run: it goes on where the run before in the same container ended."""
    before = (
        FileLogCursor.objects.filter(container_id=run.container_id, path=path)
        .exclude(run_started_at=run.started_at)
        .order_by("-run_started_at")
        .first()
    )
    began: Mapping[str, object] = (
        {
            "offset": before.offset,
            "head_hash": before.head_hash,
            "tail_hash": before.tail_hash,
            "newest_ns": before.newest_ns,
            "zone_s": before.zone_s,
        }
        if before
        else {}
    )
    row, _made = FileLogCursor.objects.get_or_create(
        container_id=run.container_id,
        run_started_at=run.started_at,
        defaults={"replica": run.replica, "path": path, **began},
    )
    if row.path != path:
        FileLogCursor.objects.filter(pk=row.pk).update(
            path=path, offset=0, head_hash="", tail_hash="", size=0, modified_ns=0
        )
        row.refresh_from_db()
    return row


def _may_wait(row: FileLogCursor, stat: FileStat) -> bool:
    """Whether nothing was written, or the file is so large that it is read less often."""
    same = (row.size, row.modified_ns) == (stat.size, stat.modified_ns)
    if same and row.offset and not row.problem:
        return True
    recent = row.read_at is not None and row.read_at > timezone.now() - LARGE_EVERY
    return stat.size > LARGE and recent


def _value(row: FileLogCursor) -> FileCursor:
    return FileCursor(
        offset=row.offset, head_hash=row.head_hash, tail_hash=row.tail_hash
    )


def _look(row: FileLogCursor, *, problem: str, finished: bool) -> None:
    FileLogCursor.objects.filter(pk=row.pk, turn=row.turn).update(
        problem=problem, finished=finished, read_at=Now(), turn=F("turn") + 1
    )


@dataclass(frozen=True, slots=True)
class _Found:
    samples: list[FoundSample]
    lines: int
    newest_ns: int
    zone_s: int | None


def _store(
    run: Run, row: FileLogCursor, stat: FileStat, increment: FileIncrement
) -> int:
    """Samples, gap and cursor together, or nothing.

    Raises:
        OvertakenError: the cursor is no longer where it was read from.
    """
    found = _found(run, row, stat, increment)
    counts = cursor_of(run.replica, run.container_id, run.started_at)
    with transaction.atomic():
        _advance(row, stat, increment, found, finished=run.ended and not increment.more)
        lost = increment.lost
        fills = (
            fill_in(locked(counts), found.samples, lost=lost)
            if found.samples or lost
            else []
        )
        AcceptanceSample.objects.bulk_create(
            [sample_row(run, sample, fill) for sample, fill in fills],
            batch_size=500,
            ignore_conflicts=True,
        )
        if lost:
            LogGap.objects.get_or_create(
                container_id=run.container_id,
                from_ns=min(row.newest_ns or stat.modified_ns, stat.modified_ns),
                to_ns=stat.modified_ns,
                defaults={"replica": run.replica, "reason": ROTATED},
            )
        fault_point("after:SAMPLES")
    return len(fills)


def _found(
    run: Run, row: FileLogCursor, stat: FileStat, increment: FileIncrement
) -> _Found:
    """The windows among the new lines, each with its time and its number in the run."""
    raw = increment.data.split(b"\n")
    if raw and not raw[-1]:
        raw.pop()
    places = [
        place for place, line in enumerate(raw) if any(mark in line for mark in _MARKS)
    ]
    texts = [raw[place].decode("utf-8", "replace").rstrip("\r") for place in places]
    stamps = [parse_line(text).log_time for text in texts]
    last = next((stamp for stamp in reversed(stamps) if stamp), None)
    zone_s = row.zone_s
    if zone_s is None and not increment.more:
        zone_s = zone_of(last, stat.modified_ns)
    moments = moments_of(stamps, stat.modified_ns, zone_s)
    lines = [
        LogLine(
            stream=FILE,
            ts_ns=max(moment, row.newest_ns),
            sequence=row.lines_read + place,
            text=text,
            truncated=False,
        )
        for place, text, moment in zip(places, texts, moments, strict=True)
    ]
    context = increment.before.decode("utf-8", "replace").split("\n")
    before = tuple(
        LogLine(stream=FILE, ts_ns=0, sequence=0, text=text, truncated=False)
        for text in context
    )
    part = LogIncrement(lines=lines, before=before, cursors={})
    # What a file holds from before its first run was read is nobody's.
    began_ns = (timestamp_ns(run.started_at) or 0) - STAMP_NS
    began_ns = 0 if row.newest_ns else began_ns
    return _Found(
        samples=[one for one in samples_of(part) if one.line.ts_ns >= began_ns],
        lines=len(raw),
        newest_ns=max((line.ts_ns for line in lines), default=row.newest_ns),
        zone_s=zone_s,
    )


def _advance(
    row: FileLogCursor,
    stat: FileStat,
    increment: FileIncrement,
    found: _Found,
    *,
    finished: bool,
) -> None:
    cursor = increment.cursor
    moved = FileLogCursor.objects.filter(
        pk=row.pk, turn=row.turn, finished=False
    ).update(
        offset=cursor.offset,
        head_hash=cursor.head_hash,
        tail_hash=cursor.tail_hash,
        # While there is more, the next look must not take the file for read.
        size=0 if increment.more else stat.size,
        modified_ns=stat.modified_ns,
        newest_ns=found.newest_ns,
        zone_s=found.zone_s,
        lines_read=row.lines_read + found.lines,
        read_at=Now(),
        finished=finished,
        problem="",
        turn=F("turn") + 1,
    )
    if moved != 1:
        raise OvertakenError

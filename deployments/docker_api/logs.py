"""Read container logs in increments that prove themselves complete, or say what is missing.

``tail=N&since=T`` reads the log backwards, so the cost follows N and not the size of the log. The
engine cuts by ``tail`` first: fewer frames than N therefore mean that ``since`` was the limit and
that all lines from T on are there; otherwise N grows. The line read last must be seen again.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import islice

from deployments.docker_api.client import Engine
from deployments.docker_api.frames import (
    Frame,
    RawLine,
    join_lines,
    read_frames,
    since_argument,
)
from deployments.docker_api.increments import (
    LogIncrement,
    LostLines,
    Reading,
    StreamCursor,
    increment_of,
    newest_anchor,
)
from deployments.docker_api.log_lines import (
    LogLine,
    amount_of,
    bytes_of,
    lines_holding,
    log_line,
)
from deployments.docker_api.rows import Again, Arriving, LogRows, RowReader, stamp_of
from deployments.docker_api.transport import get
from deployments.planning.text import text

__all__ = [
    "LogIncrement",
    "LogLine",
    "LogRange",
    "LostLines",
    "StreamCursor",
    "amount_of",
    "bytes_of",
    "lines_holding",
    "read_head",
    "read_newest",
    "read_since",
    "read_tail",
]

READ_TIMEOUT_S = 10
_TAILS = (256, 1024, 4096, 16_384, 65_536, 262_144, None)
MOST_BYTES = 16 * 1024 * 1024
MANY = 2000
"""From so many lines on they are not made one by one."""

OVERLAP_NS = 2_000_000_000
"""The two streams are stamped apart and may be stored slightly out of order."""

SET_BACK_NS = 30_000_000_000
"""By so much a clock may be set back between two looks at it without a line being missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange:
    """A part of a log by the engine's clock, up to ``until_ns`` without it.

    ``final`` takes a last line that has no newline, as a container that has ended leaves it.
    ``clock_ns`` is what that clock shows, as far as known: where it was set back, new lines have
    stamps before those that were read.
    """

    from_ns: int = 0
    until_ns: int | None = None
    final: bool = False
    clock_ns: int | None = None


def read_since(
    engine: Engine,
    container_id: str,
    cursors: Mapping[str, StreamCursor],
    part: LogRange,
    *,
    marks: Sequence[str] = (),
) -> Generator[LogIncrement, None, None]:
    """Read both streams from their cursors on, in increments of at most 16 MB.

    All come from one answer, since the engine reads its files from their start for every question.
    Store each before the next is asked for, and close the iterator when some are left. ``marks`` are
    the words, in ASCII, that ``lines_holding`` will be asked for.

    Raises:
        DockerApiError: the engine does not answer, answers an error, or has no such container.
    """
    anchor = newest_anchor(cursors)
    oldest = None
    if anchor is None:
        since = max((cursor.timestamp_ns for cursor in cursors.values()), default=0)
    elif part.clock_ns is not None and part.clock_ns < anchor.timestamp_ns - OVERLAP_NS:
        since, oldest = 0, anchor.timestamp_ns
    else:
        since = anchor.timestamp_ns - SET_BACK_NS
        oldest = min(
            cursor.timestamp_ns
            for cursor in cursors.values()
            if cursor.line_hash
            and cursor.timestamp_ns >= anchor.timestamp_ns - OVERLAP_NS
        )
    since = max(part.from_ns, since)
    reading = Reading(cursors, until_ns=part.until_ns, final=part.final)
    for tail in (None,) if oldest is None else _TAILS:
        with _open(
            engine, container_id, since=since, until_ns=part.until_ns, tail=tail
        ) as answer:
            parts = Answer(answer, marks)
            found = parts.part()
            if not found.begins_before(oldest, tail, anchor):
                continue
            yield found.increment(reading)
            while found.cut:
                found = parts.part()
                yield found.increment(reading)
            return


def read_head(
    engine: Engine, container_id: str, *, most_lines: int = 4000
) -> Iterator[LogLine]:
    """The first lines of a container's log, both streams, while they arrive.

    Raises:
        DockerApiError: the engine does not answer, answers an error, or has no such container.
    """
    with _open(engine, container_id, since=0) as answer:
        for line in islice(join_lines(read_frames(answer)), most_lines):
            yield log_line(line)


def read_tail(
    engine: Engine, container_id: str, *, lines: int = 50
) -> tuple[LogLine, ...]:
    """The last lines of a container's log, both streams.

    Raises:
        DockerApiError: the engine does not answer, answers an error, or has no such container.
    """
    with _open(engine, container_id, since=0, tail=lines) as answer:
        return tuple(log_line(line) for line in Answer(answer).part().lines)


def read_newest(
    engine: Engine,
    container_id: str,
    cursors: Mapping[str, StreamCursor],
    part: LogRange,
    *,
    lines: int = 1000,
) -> LogIncrement:
    """What is new since the cursors, but at most the newest lines: for people who look on.

    The cost follows ``lines`` and not what was logged; ``lost`` says that more came than that.
    The engine counts pieces of 16 kB, so long lines count more than once.

    Raises:
        DockerApiError: the engine does not answer, answers an error, or has no such container.
    """
    anchor = newest_anchor(cursors)
    behind = anchor.timestamp_ns - OVERLAP_NS if anchor else 0
    with _open(
        engine,
        container_id,
        since=max(part.from_ns, behind),
        until_ns=part.until_ns,
        tail=lines,
    ) as answer:
        found = Answer(answer).part().lines
    return increment_of(found, cursors, until_ns=part.until_ns, final=part.final)


@dataclass(slots=True)
class Part:
    """A part of an answer, in its order; ``cut`` when it is longer than ``MOST_BYTES``.

    It is ``rows`` where every frame is a line, as nearly always, or else ``joined`` lines.
    """

    rows: LogRows = field(default_factory=LogRows)
    joined: list[RawLine] = field(default_factory=list)
    frames: int = 0
    first_ts_ns: int | None = None
    cut: bool = False

    @property
    def lines(self) -> list[RawLine]:
        """The lines, made one by one."""
        return self.joined or [self.rows.line(place) for place in range(len(self.rows))]

    def begins_before(
        self, ts_ns: int | None, tail: int | None, anchor: StreamCursor | None = None
    ) -> bool:
        """Whether no line of that stamp or behind it is cut off by ``tail``.

        Either fewer frames came than were asked for, all of them, or the first one is older and the
        line that was read last is there: behind that one clocks may have been set back.
        """
        if ts_ns is None or tail is None or (self.frames < tail and not self.cut):
            return True
        if self.first_ts_ns is None or self.first_ts_ns >= ts_ns:
            return False
        return anchor is None or self._has_stamp(anchor.timestamp_ns)

    def _has_stamp(self, ts_ns: int) -> bool:
        if len(self.rows):
            return self.rows.has_stamp(stamp_of(ts_ns))
        return any(line.ts_ns == ts_ns for line in self.joined)

    def increment(self, reading: Reading) -> LogIncrement:
        """What is new in it."""
        if len(self.rows) >= MANY and reading.takes(self.rows):
            return reading.rows(self.rows)
        return reading.lines(self.lines, more=self.cut)


class Answer:
    """One answer of the engine, part by part."""

    def __init__(self, answer: Arriving, marks: Sequence[str] = ()) -> None:
        self._rows = RowReader(answer, tuple(mark.encode("ascii") for mark in marks))
        self._lines: Iterator[RawLine] | None = None
        self._now = Part()

    def part(self) -> Part:
        """The next part; call this again only while the last one was cut."""
        self._now = Part()
        if self._lines is None:
            rows = self._rows.rows(MOST_BYTES)
            if isinstance(rows, LogRows):
                first = rows.line(0).ts_ns if len(rows) else None
                return Part(rows, [], len(rows), first, rows.cut)
            self._lines = join_lines(self._counted(rows))
        size = 0
        for line in self._lines:
            self._now.joined.append(line)
            size += len(line.data)
            if size > MOST_BYTES:
                self._now.cut = True
                break
        return self._now

    def _counted(self, answer: Again) -> Iterator[Frame]:
        for frame in read_frames(answer):
            if self._now.first_ts_ns is None:
                self._now.first_ts_ns = frame.ts_ns
            self._now.frames += 1
            yield frame


def _open(
    engine: Engine,
    container_id: str,
    *,
    since: int,
    until_ns: int | None = None,
    tail: int | None = None,
) -> AbstractContextManager[BufferedReader]:
    path = (
        f"/v{engine.api.api_version}/containers/{container_id}/logs"
        f"?stdout=1&stderr=1&timestamps=1&tail={'all' if tail is None else tail}"
    )
    if since:
        path += f"&since={since_argument(since)}"
    if until_ns is not None:
        path += f"&until={since_argument(until_ns)}"
    return get(
        engine.host,
        engine.dial,
        path,
        act=text("read the log of {container}", container=container_id[:12]),
        timeout_s=READ_TIMEOUT_S,
    )

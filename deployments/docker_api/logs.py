"""Read container logs in increments that prove themselves complete, or say what is missing.

``tail=N&since=T`` reads the log backwards, so the cost follows N and not the size of the log. The
engine cuts by ``tail`` first: fewer frames than N therefore mean that ``since`` was the limit and
that all lines from T on are there; otherwise N grows. The line read last must be seen again.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

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
    LogLine,
    LostLines,
    StreamCursor,
    amount_of,
    increment_of,
    increment_of_rows,
    lines_holding,
    log_line,
    newest_anchor,
)
from deployments.docker_api.rows import Again, LogRows, read_rows
from deployments.docker_api.transport import get
from deployments.planning.text import text

__all__ = [
    "LogIncrement",
    "LogLine",
    "LogRange",
    "LostLines",
    "StreamCursor",
    "amount_of",
    "lines_holding",
    "read_head",
    "read_newest",
    "read_since",
    "read_tail",
]

READ_TIMEOUT_S = 10
FIRST_TAIL = 256
LARGEST_TAIL = 262_144
MOST_BYTES = 16 * 1024 * 1024
MANY = 2000
"""From so many lines on they are not made one by one."""

OVERLAP_NS = 2_000_000_000
"""The two streams are stamped apart and may be stored slightly out of order."""


def read_since(
    engine: Engine,
    container_id: str,
    cursors: Mapping[str, StreamCursor],
    *,
    until_ns: int | None = None,
    final: bool = False,
) -> LogIncrement:
    """Read both streams from their cursors on, at most 16 MB at once.

    ``until_ns`` leaves out lines from that time on; ``final`` takes a last line that has no
    newline, as a container that has ended leaves it.

    Raises:
        DockerApiError: the engine does not answer, answers an error, or has no such container.
    """
    anchor = newest_anchor(cursors)
    if anchor is None:
        since = max((cursor.timestamp_ns for cursor in cursors.values()), default=0)
        answer = _read(engine, container_id, since=since, until_ns=until_ns)
    else:
        since = max(0, anchor.timestamp_ns - OVERLAP_NS)
        answer = _read_overlap(engine, container_id, cursors, since, until_ns)
    if len(answer.rows) >= MANY and answer.rows.are_distinct:
        return increment_of_rows(answer.rows, cursors, until_ns=until_ns)
    return increment_of(
        answer.lines, cursors, until_ns=until_ns, final=final, more=answer.cut
    )


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
    answer = _read(engine, container_id, since=0, tail=lines)
    return tuple(log_line(line) for line in answer.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange:
    """A part of a log by the engine's clock; ``final`` takes a last line without newline."""

    from_ns: int = 0
    until_ns: int | None = None
    final: bool = False


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
    answer = _read(
        engine,
        container_id,
        since=max(part.from_ns, behind),
        until_ns=part.until_ns,
        tail=lines,
    )
    return increment_of(answer.lines, cursors, until_ns=part.until_ns, final=part.final)


@dataclass(slots=True)
class Answer:
    """One answer of the engine, in its order; ``cut`` when it was longer than ``MOST_BYTES``.

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

    def take(self, answer: BinaryIO) -> None:
        """Read the answer up to the limit."""
        rows = read_rows(answer, MOST_BYTES)
        if isinstance(rows, LogRows):
            self.rows, self.frames, self.cut = rows, len(rows), rows.cut
            self.first_ts_ns = rows.line(0).ts_ns if len(rows) else None
            return
        self.joined = list(join_lines(self._counted(rows)))
        if self.cut:
            self.joined = [line for line in self.joined if line.whole]

    def begins_before(self, ts_ns: int) -> bool:
        """Whether the first piece is older, so that no line of that stamp is cut off."""
        return self.first_ts_ns is not None and self.first_ts_ns < ts_ns

    def _counted(self, answer: Again) -> Iterator[Frame]:
        size = 0
        for frame in read_frames(answer):
            if self.first_ts_ns is None:
                self.first_ts_ns = frame.ts_ns
            self.frames += 1
            size += len(frame.payload)
            yield frame
            if size > MOST_BYTES:
                self.cut = True
                return


def _read_overlap(
    engine: Engine,
    container_id: str,
    cursors: Mapping[str, StreamCursor],
    since: int,
    until_ns: int | None,
) -> Answer:
    """Widen ``tail`` until the answer begins before every cursor in its range."""
    oldest = min(
        cursor.timestamp_ns
        for cursor in cursors.values()
        if cursor.line_hash and cursor.timestamp_ns >= since
    )
    tail = FIRST_TAIL
    while tail <= LARGEST_TAIL:
        answer = _read(engine, container_id, since=since, until_ns=until_ns, tail=tail)
        if answer.frames < tail or answer.begins_before(oldest):
            return answer
        tail *= 4
    return _read(engine, container_id, since=since, until_ns=until_ns)


def _read(
    engine: Engine,
    container_id: str,
    *,
    since: int,
    until_ns: int | None = None,
    tail: int | None = None,
) -> Answer:
    found = Answer()
    with _open(
        engine, container_id, since=since, until_ns=until_ns, tail=tail
    ) as answer:
        found.take(answer)
    return found


def _open(
    engine: Engine,
    container_id: str,
    *,
    since: int,
    until_ns: int | None = None,
    tail: int | None = None,
) -> AbstractContextManager[BinaryIO]:
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

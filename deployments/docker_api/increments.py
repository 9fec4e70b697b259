"""What is new in a log answer since the cursors, and whether anything is missing before it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from deployments.docker_api.frames import RawLine

CONTEXT_LINES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line: stream, engine time stamp, its place among lines of that stamp, and text.

    Bytes that are no UTF-8 arrive as U+FFFD; ``truncated`` marks lines cut at 64 kB.
    """

    stream: str
    ts_ns: int
    sequence: int
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCursor:
    """The last line read of a stream: time stamp, lines read with that stamp, and hash.

    An empty hash marks a place to begin at, where no line was read yet.
    """

    timestamp_ns: int = 0
    same_timestamp: int = 0
    line_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostLines:
    """Lines between two time stamps that the engine no longer has."""

    from_ns: int
    to_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogIncrement:
    """What is new since the cursors. ``before`` are lines just before it that were read earlier.

    ``more`` says that the read was cut at its limit and that another one would find more.
    """

    lines: tuple[LogLine, ...]
    before: tuple[LogLine, ...]
    cursors: Mapping[str, StreamCursor]
    lost: LostLines | None = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class _Placed:
    raw: RawLine
    sequence: int


def log_line(raw: RawLine, sequence: int = 0) -> LogLine:
    """The line as text."""
    return LogLine(
        stream=raw.stream,
        ts_ns=raw.ts_ns,
        sequence=sequence,
        text=raw.data.decode("utf-8", "replace").removesuffix("\r"),
        truncated=raw.truncated,
    )


def newest_anchor(cursors: Mapping[str, StreamCursor]) -> StreamCursor | None:
    """The cursor of the line that was read last on either stream."""
    anchors = [cursor for cursor in cursors.values() if cursor.line_hash]
    return max(anchors, key=lambda cursor: cursor.timestamp_ns, default=None)


def increment_of(
    raw_lines: Iterable[RawLine],
    cursors: Mapping[str, StreamCursor],
    *,
    until_ns: int | None = None,
    final: bool = False,
    more: bool = False,
) -> LogIncrement:
    """Cut what was read before off an answer that begins before all cursors in its range.

    ``until_ns`` leaves out lines from that time on; ``final`` takes a last line without newline.
    """
    placed = [
        line
        for line in _placed(raw_lines)
        if (line.raw.whole or final) and (until_ns is None or line.raw.ts_ns < until_ns)
    ]
    new = [line for line in placed if _is_new(line, cursors)]
    old = [line for line in placed if not _is_new(line, cursors)]
    return LogIncrement(
        lines=tuple(log_line(line.raw, line.sequence) for line in new),
        before=tuple(
            log_line(line.raw, line.sequence) for line in old[-CONTEXT_LINES:]
        ),
        cursors={**cursors, **{line.raw.stream: _cursor(line) for line in new}},
        lost=_lost(placed, new, newest_anchor(cursors)),
        more=more,
    )


def _placed(raw_lines: Iterable[RawLine]) -> Iterator[_Placed]:
    """Number the lines of one stream and one time stamp."""
    seen: Counter[tuple[str, int]] = Counter()
    for raw in raw_lines:
        key = (raw.stream, raw.ts_ns)
        yield _Placed(raw, seen[key])
        seen[key] += 1


def _is_new(line: _Placed, cursors: Mapping[str, StreamCursor]) -> bool:
    cursor = cursors.get(line.raw.stream, StreamCursor())
    return (line.raw.ts_ns, line.sequence) >= (
        cursor.timestamp_ns,
        cursor.same_timestamp,
    )


def _cursor(line: _Placed) -> StreamCursor:
    return StreamCursor(
        timestamp_ns=line.raw.ts_ns,
        same_timestamp=line.sequence + 1,
        line_hash=_hash(line.raw),
    )


def _hash(raw: RawLine) -> str:
    return sha256(raw.stream.encode() + b" " + raw.data).hexdigest()


def _lost(
    placed: list[_Placed], new: list[_Placed], anchor: StreamCursor | None
) -> LostLines | None:
    """Nothing is missing if the line that was read last is seen again."""
    if anchor is None or any(
        line.raw.ts_ns == anchor.timestamp_ns
        and line.sequence + 1 == anchor.same_timestamp
        and _hash(line.raw) == anchor.line_hash
        for line in placed
    ):
        return None
    first = min((line.raw.ts_ns for line in new), default=anchor.timestamp_ns)
    return LostLines(from_ns=anchor.timestamp_ns, to_ns=max(first, anchor.timestamp_ns))

"""What is new in a log answer since the cursors, and whether anything is missing before it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import overload

from deployments.docker_api.frames import STREAMS, RawLine
from deployments.docker_api.rows import LogRows, stamp_of

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

    lines: Sequence[LogLine]
    before: tuple[LogLine, ...]
    cursors: Mapping[str, StreamCursor]
    lost: LostLines | None = None
    more: bool = False


class ManyLines(Sequence[LogLine]):
    """Some lines of a long answer; each is made when it is asked for."""

    def __init__(self, rows: LogRows, places: Sequence[int]) -> None:
        self._rows = rows
        self._places = places

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> LogLine: ...
    @overload
    def __getitem__(self, place: slice) -> "ManyLines": ...
    def __getitem__(self, place: int | slice) -> "LogLine | ManyLines":
        """One line, or some of them."""
        if isinstance(place, slice):
            return ManyLines(self._rows, self._places[place])
        return log_line(self._rows.line(self._places[place]))

    def holding(self, words: Sequence[str]) -> Iterator[LogLine]:
        """The lines that hold one of the words, which are ASCII."""
        some = self._rows.holding(word.encode("ascii") for word in words)
        if len(self) < len(self._rows):
            ours = set(self._places)
            some = [place for place in some if place in ours]
        return (log_line(self._rows.line(place)) for place in some)

    def amount(self, stream: str) -> int:
        """How many lines are of the stream."""
        kinds = self._rows.kinds
        counts = Counter([kinds[place] for place in self._places])
        return sum(counts[kind] for kind, name in STREAMS.items() if name == stream)


def lines_holding(lines: Sequence[LogLine], words: Sequence[str]) -> Iterator[LogLine]:
    """The lines that hold one of the words, which are ASCII, in their order."""
    if isinstance(lines, ManyLines):
        return lines.holding(words)
    return (line for line in lines if any(word in line.text for word in words))


def amount_of(lines: Sequence[LogLine], stream: str) -> int:
    """How many lines are of the stream."""
    if isinstance(lines, ManyLines):
        return lines.amount(stream)
    return sum(line.stream == stream for line in lines)


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
        cursors={
            **cursors,
            # Of each stream the last one.
            **{
                stream: _cursor(line)
                for stream, line in {line.raw.stream: line for line in new}.items()
            },
        },
        lost=_lost(placed, new, newest_anchor(cursors)),
        more=more,
    )


def increment_of_rows(
    rows: LogRows,
    cursors: Mapping[str, StreamCursor],
    *,
    until_ns: int | None = None,
) -> LogIncrement:
    """The same as ``increment_of`` for a long answer in which no stream has a stamp twice."""
    stamps, kinds = rows.stamps, rows.kinds
    bounds = {kind: _bound(cursors.get(name)) for kind, name in STREAMS.items()}
    places: Sequence[int] = range(len(rows))
    old: Sequence[int]
    if until_ns is not None:
        end = stamp_of(until_ns)
        places = [place for place in places if stamps[place] < end]
    new, old = places, []
    if min(stamps, default=b"") < max(bounds.values()):
        new = [place for place in places if stamps[place] >= bounds[kinds[place]]]
        old = [place for place in places if stamps[place] < bounds[kinds[place]]]
    last = {STREAMS[kinds[place]]: place for place in new}
    anchor = newest_anchor(cursors)
    stamp = stamp_of(anchor.timestamp_ns) if anchor else None
    seen = [_Placed(rows.line(place), 0) for place in old if stamps[place] == stamp]
    first = min(new, key=stamps.__getitem__, default=None)
    return LogIncrement(
        lines=ManyLines(rows, new),
        before=tuple(log_line(rows.line(place)) for place in old[-CONTEXT_LINES:]),
        cursors={
            **cursors,
            **{
                stream: _cursor(_Placed(rows.line(place), 0))
                for stream, place in last.items()
            },
        },
        lost=_lost(
            seen,
            [] if first is None else [_Placed(rows.line(first), 0)],
            anchor,
        ),
        more=rows.cut,
    )


def _bound(cursor: StreamCursor | None) -> bytes:
    """The stamp from which on lines are new, where each stamp is there once."""
    if cursor is None:
        return b""
    # A stamp of which a line was read is smaller than itself with anything behind it.
    return stamp_of(cursor.timestamp_ns) + (b"+" if cursor.same_timestamp else b"")


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

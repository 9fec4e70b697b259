"""What is new in a log answer since the cursors, and whether anything is missing before it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from hashlib import sha256
from itertools import compress

from deployments.docker_api.frames import STREAMS, RawLine
from deployments.docker_api.log_lines import LogLine, ManyLines, log_line
from deployments.docker_api.rows import LogRows, stamp_of

CONTEXT_LINES = 64


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


@dataclass(frozen=True, slots=True)
class _Placed:
    raw: RawLine
    sequence: int


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
) -> LogIncrement:
    """Cut what was read before off an answer that begins before all cursors in its range.

    ``until_ns`` leaves out lines from that time on; ``final`` takes a last line without newline.
    """
    return Reading(cursors, until_ns=until_ns, final=final).lines(raw_lines)


@dataclass(slots=True)
class Reading:
    """One answer that is read in parts, each an increment; ``given`` is where it began.

    What is new is told by those first cursors: a later part needs no proof of its own, since it
    came with the same answer. New is what stands behind the line that was read last, whatever its
    stamp says, for clocks are set back; only where that line is not there stamps tell.
    """

    given: Mapping[str, StreamCursor]
    _: KW_ONLY
    until_ns: int | None = None
    final: bool = False
    _cursors: dict[str, StreamCursor] = field(default_factory=dict)
    _before: tuple[LogLine, ...] = ()
    _counted: Counter[tuple[str, int]] = field(default_factory=Counter)
    _proven: bool = False
    _passed: set[str] = field(default_factory=set)

    def lines(
        self, raw_lines: Iterable[RawLine], *, more: bool = False
    ) -> LogIncrement:
        """The next part, as lines."""
        placed = [
            line
            for line in self._placed(raw_lines)
            if (line.raw.whole or self.final)
            and (self.until_ns is None or line.raw.ts_ns < self.until_ns)
        ]
        new, old = self._told_apart(placed)
        return self._increment(
            tuple(log_line(line.raw, line.sequence) for line in new),
            [log_line(line.raw, line.sequence) for line in old[-CONTEXT_LINES:]],
            # Of each stream the last one.
            {line.raw.stream: line for line in new},
            self._lost(placed, [line.raw.ts_ns for line in new], more=more),
            more=more,
        )

    def rows(self, rows: LogRows) -> LogIncrement:
        """The same for many lines; ``takes`` says whether they can be read like this."""
        stamps, kinds = rows.stamps, rows.kinds
        bounds = {kind: _bound(self.given.get(name)) for kind, name in STREAMS.items()}
        places: Sequence[int] = range(len(rows))
        old: Sequence[int]
        if self.until_ns is not None:
            end = stamp_of(self.until_ns)
            places = [place for place in places if stamps[place] < end]
        new, old = places, []
        if any(bounds.values()) and min(stamps, default=b"") < max(bounds.values()):
            last_read = {
                kind: self._last_read(rows, kind, name)
                for kind, name in STREAMS.items()
            }
            flags = [
                stamps[place] >= bounds[kinds[place]]
                if (seen := last_read[kinds[place]]) is None
                else place > seen
                for place in places
            ]
            new = list(compress(places, flags))
            old = [
                place for place, is_new in zip(places, flags, strict=True) if not is_new
            ]
        self._count_last(
            rows.line(place) for place in _last_of_each(kinds, range(len(rows)))
        )
        last = [rows.line(place) for place in _last_of_each(kinds, new)]
        return self._increment(
            ManyLines(rows, new),
            [log_line(rows.line(place)) for place in old[-CONTEXT_LINES:]],
            {line.stream: _Placed(line, 0) for line in last},
            self._lost_rows(rows, old, new),
            more=rows.cut,
        )

    def _last_read(self, rows: LogRows, kind: int, stream: str) -> int | None:
        """Where the line of the stream's cursor stands; -1 for before them all, ``None`` for nowhere."""
        if stream in self._passed:
            return -1
        cursor = self.given.get(stream, StreamCursor())
        if cursor.same_timestamp != 1 or not rows.has_stamp(
            stamp := stamp_of(cursor.timestamp_ns)
        ):
            return None
        for place in range(rows.stamps.index(stamp), len(rows)):
            if (rows.kinds[place], rows.stamps[place]) == (kind, stamp):
                if _hash(rows.line(place)) != cursor.line_hash:
                    return None
                self._passed.add(stream)
                return place
        return None

    def _told_apart(
        self, placed: Sequence[_Placed]
    ) -> tuple[list[_Placed], list[_Placed]]:
        """What is new, and what was read before."""
        last_read = {
            line.raw.stream: number
            for number, line in enumerate(placed)
            if self._is_last_read(line)
        }
        new: list[_Placed] = []
        old: list[_Placed] = []
        for number, line in enumerate(placed):
            stream = line.raw.stream
            if stream in self._passed:
                is_new = True
            elif stream in last_read:
                is_new = number > last_read[stream]
            else:
                is_new = _is_new(line, self.given)
            (new if is_new else old).append(line)
        self._passed |= last_read.keys()
        return new, old

    def _is_last_read(self, line: _Placed) -> bool:
        """Whether it is the line of its stream's cursor."""
        cursor = self.given.get(line.raw.stream)
        return (
            cursor is not None
            and line.raw.ts_ns == cursor.timestamp_ns
            and line.sequence + 1 == cursor.same_timestamp
            and _hash(line.raw) == cursor.line_hash
        )

    def takes(self, rows: LogRows) -> bool:
        """Whether no line has the stream and stamp of another, of this part or the end of the one before."""
        return rows.are_distinct and not any(
            rows.has_stamp(stamp_of(ts_ns)) for _stream, ts_ns in self._counted
        )

    def _increment(
        self,
        lines: Sequence[LogLine],
        old: Sequence[LogLine],
        last: Mapping[str, _Placed],
        lost: LostLines | None,
        *,
        more: bool,
    ) -> LogIncrement:
        before = (*self._before, *old)[-CONTEXT_LINES:]
        self._before = (*before, *lines[-CONTEXT_LINES:])[-CONTEXT_LINES:]
        self._cursors |= {stream: _cursor(line) for stream, line in last.items()}
        return LogIncrement(
            lines=lines,
            before=before,
            cursors={**self.given, **self._cursors},
            lost=lost,
            more=more,
        )

    def _placed(self, raw_lines: Iterable[RawLine]) -> Iterator[_Placed]:
        """Number the lines of one stream and one time stamp, also across parts."""
        seen, last = self._counted, dict[str, RawLine]()
        for raw in raw_lines:
            key = (raw.stream, raw.ts_ns)
            yield _Placed(raw, seen[key])
            seen[key] += 1
            last[raw.stream] = raw
        self._count_last(last.values())

    def _count_last(self, last: Iterable[RawLine]) -> None:
        """Remember how many lines have the stamp of the last one of each stream."""
        found = {line.stream: line.ts_ns for line in last}
        kept = {stream: ts_ns for stream, ts_ns in self._counted if stream not in found}
        self._counted = Counter(
            {key: max(1, self._counted[key]) for key in (kept | found).items()}
        )

    def _lost_rows(
        self, rows: LogRows, old: Sequence[int], new: Sequence[int]
    ) -> LostLines | None:
        anchor = newest_anchor(self.given)
        if self._proven or anchor is None:
            return None
        stamps, stamp = rows.stamps, stamp_of(anchor.timestamp_ns)
        seen = [_Placed(rows.line(place), 0) for place in old if stamps[place] == stamp]
        first = min(new, key=stamps.__getitem__, default=None)
        began = [] if first is None else [rows.line(first).ts_ns]
        return self._lost(seen, began, more=rows.cut)

    def _lost(
        self, placed: Sequence[_Placed], new_ns: Sequence[int], *, more: bool
    ) -> LostLines | None:
        """Nothing is missing if the line that was read last is seen again."""
        anchor = newest_anchor(self.given)
        if self._proven or anchor is None:
            return None
        self._proven = bool(new_ns) or not more
        if any(
            line.raw.ts_ns == anchor.timestamp_ns
            and line.sequence + 1 == anchor.same_timestamp
            and _hash(line.raw) == anchor.line_hash
            for line in placed
        ):
            self._proven = True
            return None
        if not self._proven:
            return None
        return LostLines(
            from_ns=anchor.timestamp_ns,
            to_ns=max(min(new_ns, default=0), anchor.timestamp_ns),
        )


def _last_of_each(kinds: bytearray, places: Sequence[int]) -> list[int]:
    """The last place of each kind; of an unbroken range without looking at all of them."""
    if isinstance(places, range):
        found = [kinds.rfind(kind, 0, len(places)) for kind in STREAMS]
        return [place for place in found if place >= 0]
    return list({kinds[place]: place for place in places}.values())


def _bound(cursor: StreamCursor | None) -> bytes:
    """The stamp from which on lines are new, where each stamp is there once."""
    if cursor is None:
        return b""
    # A stamp of which a line was read is smaller than itself with anything behind it.
    return stamp_of(cursor.timestamp_ns) + (b"+" if cursor.same_timestamp else b"")


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

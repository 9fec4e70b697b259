"""Long answers of ordinary frames, one whole line each, without an object for every line.

The engine's stamps have one length, so their order as bytes is their order in time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader, BytesIO
from operator import itemgetter, lt

from deployments.docker_api.frames import (
    HEADER,
    STREAMS,
    RawLine,
    timestamp_ns,
)

Arriving = BufferedReader | BytesIO
READ_BYTES = 256 * 1024
STAMP_BYTES = len("2026-11-29T17:24:29.432574484Z")
LEAST_BYTES = STAMP_BYTES + len(" \n")
PIECE_BYTES = 16 * 1024
"""A payload of this length may be a piece of a longer line."""
_STAMP_SIGNS = {
    place: sign
    for place, sign in enumerate(b"2026-11-29T17:24:29.432574484Z")
    if sign not in b"0123456789"
}
_STAMP = HEADER.size
_SPACE = _STAMP + STAMP_BYTES
_WORDS = _SPACE + 1
_AROUND = HEADER.size + LEAST_BYTES
"""What a frame has besides its words."""


class _NoLineError(Exception):
    """A frame is not one whole line with a stamp."""


class _Steps(dict[bytes, int]):
    """How far the next frame is, by the end of the line before and the header of this one."""

    def __missing__(self, around: bytes) -> int:
        """Read a header that was not seen yet; there are some 30,000 that can be."""
        if len(around) != 1 + HEADER.size or around[:1] != b"\n":
            raise _NoLineError
        kind, length = HEADER.unpack(around[1:])
        plain = HEADER.pack(kind, length) == around[1:]
        if kind not in STREAMS or not LEAST_BYTES <= length < PIECE_BYTES or not plain:
            raise _NoLineError
        step: int = HEADER.size + length
        self[around] = step
        return step


_STEPS = _Steps()


@dataclass(slots=True)
class LogRows:
    """Lines in the order of the answer: their streams and stamps, and what they say.

    ``size`` is how many bytes they say, ``cut`` that the answer was longer than was asked for.
    ``held`` are the places of the lines that hold one of the ``marks``. ``ascending`` says that
    each stamp is later than the one before.
    """

    marks: tuple[bytes, ...] = ()
    kinds: bytearray = field(default_factory=bytearray)
    stamps: list[bytes] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    size: int = 0
    ascending: bool = True
    cut: bool = False
    _blocks: list[bytes] = field(default_factory=list)
    _firsts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _begins: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._begins)

    def line(self, place: int) -> RawLine:
        """One of them as the long way makes it."""
        ts_ns = timestamp_ns(self.stamps[place].decode("ascii")) or 0
        stream = STREAMS[self.kinds[place]]
        return RawLine(stream, ts_ns, self.words(place), truncated=False)

    def words(self, place: int) -> bytes:
        """What one of them says."""
        block = self._blocks[bisect_right(self._firsts, place) - 1]
        begin = self._begins[place]
        _kind, length = HEADER.unpack_from(block, begin)
        return block[begin + _WORDS : begin + HEADER.size + length - 1]

    @property
    def are_distinct(self) -> bool:
        """Whether no two lines of a stream have the same stamp."""
        if self.ascending or len(set(self.stamps)) == len(self):
            return True
        return len(set(zip(self.kinds, self.stamps, strict=True))) == len(self)

    def has_stamp(self, stamp: bytes) -> bool:
        """Whether one of them has this stamp."""
        if not self.ascending:
            return stamp in self.stamps
        place = bisect_left(self.stamps, stamp)
        return self.stamps[place : place + 1] == [stamp]

    def take(self, block: bytes, begins: list[int], end: int) -> None:
        """Add the frames that begin at these places of a block and lie side by side.

        Raises:
            _NoLineError: one has no stamp.
        """
        if not begins:
            return
        stamps = [block[begin + _STAMP : begin + _SPACE] for begin in begins]
        ascending = all(map(lt, stamps, stamps[1:]))
        spaces = bytes([block[begin + _SPACE] for begin in begins])
        if spaces.strip(b" ") or not _are_stamps(stamps, ascending=ascending):
            raise _NoLineError
        self.ascending &= ascending and self.stamps[-1:] < stamps[:1]
        self._hold(block, begins, end)
        self._blocks.append(block)
        self._firsts.append(len(self))
        self._ends.append(end)
        self.size += end - begins[0] - _AROUND * len(begins)
        # Twice the first one, since the getter gives no tuple of a single place.
        self.kinds += bytes(itemgetter(*begins, begins[0])(block)[:-1])
        self.stamps += stamps
        self._begins += begins

    def taken(self) -> bytes:
        """The frames as they came."""
        blocks = zip(self._blocks, self._firsts, self._ends, strict=True)
        return b"".join(
            block[self._begins[first] : end] for block, first, end in blocks
        )

    def _hold(self, block: bytes, begins: Sequence[int], end: int) -> None:
        """Look for the marks in the lines of a block."""
        found = set()
        for mark in self.marks:
            place = block.find(mark, begins[0], end)
            while place >= 0:
                line = bisect_right(begins, place)
                if place >= begins[line - 1] + _WORDS:
                    found.add(len(self) + line - 1)
                    place = begins[line] - 1 if line < len(begins) else end
                place = block.find(mark, place + 1, end)
        self.held += sorted(found)


class Again:
    """An answer of which a part was read already, to be read from its beginning."""

    def __init__(self, read: bytes, answer: Arriving) -> None:
        self._read = read
        self._place = 0
        self._answer = answer

    def read(self, size: int) -> bytes:
        """Up to so many bytes; fewer only at the end."""
        part = self._read[self._place : self._place + size]
        self._place += len(part)
        return part if len(part) == size else part + self._answer.read(size - len(part))


class RowReader:
    """The lines of an answer, so many at a time."""

    def __init__(self, answer: Arriving, marks: tuple[bytes, ...] = ()) -> None:
        self._answer = answer
        self._marks = marks
        self._rest = b""
        # What is left of it is always more than a buffered reader keeps, so that none copies.
        self._arrived = memoryview(bytearray(2 * READ_BYTES + 1))

    def rows(self, most_bytes: int) -> LogRows | Again:
        """The next lines up to ``most_bytes`` of them, or all that is left if a frame is no line."""
        rows, block, more = LogRows(self._marks), b"\n" + self._rest, True
        while True:
            try:
                end = _taken(rows, block, most_bytes)
            except _NoLineError:
                return Again(rows.taken() + block[1:], self._answer)
            self._rest = block[end:]
            if rows.size > most_bytes:
                rows.cut = True
                return rows
            if not more:
                self._rest = b""
                return rows
            size, more = self._read()
            block = b"".join((b"\n", self._rest, self._arrived[:size]))

    def _read(self) -> tuple[int, bool]:
        """Wait for a block: its bytes, and whether there may be more."""
        size = 0
        while size < READ_BYTES:
            got = self._answer.readinto1(self._arrived[size:])
            if not got:
                return size, False
            size += got
        return size, True


def _taken(rows: LogRows, block: bytes, most_bytes: int) -> int:
    """Take the whole frames of a block that begins with the end of a line; up to where.

    Raises:
        _NoLineError: one of them is no line.
    """
    begins: list[int] = []
    place, last, steps, add = 1, len(block) - HEADER.size, _STEPS, begins.append
    while place <= last:
        add(place)
        place += steps[block[place - 1 : place + HEADER.size]]
    if place > len(block):
        place = begins.pop()
    if block[place - 1 : place] != b"\n":
        raise _NoLineError
    room = most_bytes - rows.size
    if place - 1 - _AROUND * len(begins) > room:
        # The first line that goes beyond is the last one.
        ends = [*begins[1:], place]
        kept = next(
            number
            for number, end in enumerate(ends, 1)
            if end - 1 - _AROUND * number > room
        )
        begins, place = begins[:kept], ends[kept - 1]
    rows.take(block, begins, place)
    return place


def stamp_of(ts_ns: int) -> bytes:
    """The engine's stamp of a time in nanoseconds since 1970."""
    seconds, rest = divmod(ts_ns, 1_000_000_000)
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z".encode()


def _are_stamps(texts: Sequence[bytes], *, ascending: bool) -> bool:
    """Whether each has the form of a stamp and names a second that there is."""
    whole = b"".join(texts)
    forms = [whole[place::STAMP_BYTES] for place in _STAMP_SIGNS]
    signs = [bytes([sign]) * len(texts) for sign in _STAMP_SIGNS.values()]
    digits = len(whole.translate(None, b"0123456789"))
    return (
        forms == signs
        and digits == len(_STAMP_SIGNS) * len(texts)
        and all(
            timestamp_ns(f"{second.decode('ascii')}Z") is not None
            for second in _seconds(texts, ascending=ascending)
        )
    )


def _seconds(texts: Sequence[bytes], *, ascending: bool) -> set[bytes]:
    """The seconds of the stamps; of ascending ones without a look at each."""
    if not ascending:
        return {text[:19] for text in texts}
    seconds, place = set(), 0
    while place < len(texts):
        second = texts[place][:19]
        seconds.add(second)
        place = bisect_right(texts, second + b"Z", place)
    return seconds

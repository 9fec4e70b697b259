"""Long answers of ordinary frames, one whole line each, without an object for every line.

The engine's stamps have one length, so their order as bytes is their order in time.
"""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader, BytesIO
from itertools import accumulate

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
_Z, _SPACE, _NEWLINE = b"Z \n"
_FRAME = re.compile(
    rb"([\x01\x02])\0\0\0(.{4})(.{%d}Z) ([^\n]*)\n" % (STAMP_BYTES - 1),
    re.DOTALL,
)
_AROUND = HEADER.size + LEAST_BYTES
"""What a frame has besides its words."""


@dataclass(slots=True)
class LogRows:
    """Lines in the order of the answer: stream and stamp as ``keys``, and what they say.

    ``cut`` when the answer was longer than was asked for. ``held`` are the places of the lines that
    hold one of the ``marks``.
    """

    marks: tuple[bytes, ...] = ()
    kinds: bytearray = field(default_factory=bytearray)
    stamps: list[bytes] = field(default_factory=list)
    words: list[bytes] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    cut: bool = False

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self.words)

    def line(self, place: int) -> RawLine:
        """One of them as the long way makes it."""
        ts_ns = timestamp_ns(self.stamps[place].decode("ascii")) or 0
        stream = STREAMS[self.kinds[place]]
        return RawLine(stream, ts_ns, self.words[place], truncated=False)

    @property
    def are_distinct(self) -> bool:
        """Whether no two lines of a stream have the same stamp."""
        if len(set(self.stamps)) == len(self):
            return True
        return len(set(zip(self.kinds, self.stamps, strict=True))) == len(self)

    def hold(self, first: int) -> None:
        """Look for the marks in the lines from this place on."""
        # The lines hold no newline themselves, so that no mark is found across two of them.
        words = self.words[first:]
        whole = b"\n".join(words)
        ends: list[int] = []
        found = set()
        for mark in self.marks:
            place = whole.find(mark)
            while place >= 0:
                ends = ends or list(accumulate([len(word) + 1 for word in words]))
                line = bisect_right(ends, place)
                found.add(first + line)
                place = whole.find(mark, ends[line])
        self.held += sorted(found)


class Again:
    """An answer of which a part was read already, to be read from its beginning."""

    def __init__(self, read: Iterable[bytes], answer: Arriving) -> None:
        self._read = b"".join(read)
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

    def rows(self, most_bytes: int) -> LogRows | Again:
        """The next lines up to ``most_bytes`` of them, or all that is left if a frame is no line."""
        rows, block = LogRows(self._marks), self._rest
        pieces, size = [block], 0
        while True:
            taken = _taken(rows, block, most_bytes - size)
            if taken is None:
                return Again(pieces, self._answer)
            place, more = taken
            size += more
            if size > most_bytes:
                rows.cut, self._rest = True, block[place:]
                return rows
            # Piece by piece, so that the engine writes the next one meanwhile.
            piece = self._answer.read1(READ_BYTES)
            if not piece:
                self._rest = b""
                return rows
            pieces.append(piece)
            block = block[place:] + piece


def _taken(rows: LogRows, block: bytes, most_bytes: int) -> tuple[int, int] | None:
    """Take the frames of a block: up to where, and how many bytes of words, or that one is no line."""
    before = len(rows)
    place = _taken_at_once(rows, block, most_bytes)
    size = place - _AROUND * (len(rows) - before)
    last, unpack = len(block) - HEADER.size, HEADER.unpack_from
    kinds, stamps, words = rows.kinds, rows.stamps, rows.words
    while place <= last and size <= most_bytes:
        kind, length = unpack(block, place)
        start = place + HEADER.size
        end = start + length
        if kind not in STREAMS or not LEAST_BYTES <= length < PIECE_BYTES:
            return None
        if end > len(block):
            break
        says = start + STAMP_BYTES
        if block[end - 1] != _NEWLINE or block[says] != _SPACE or block[says - 1] != _Z:
            return None
        kinds.append(kind)
        stamps.append(block[start:says])
        words.append(block[says + 1 : end - 1])
        size += length - LEAST_BYTES
        place = end
    if not _are_stamps(stamps[before:]):
        return None
    rows.hold(before)
    return place, size


def _taken_at_once(rows: LogRows, block: bytes, most_bytes: int) -> int:
    """Take the frames of a block without looking at each; up to where, 0 if that cannot be.

    A pattern cannot count, so the lengths that the frames say are compared afterwards.
    """
    if len(block) > most_bytes:
        return 0
    parts = _FRAME.split(block)
    # What lies before, between and, at last, behind the frames; nothing may lie between.
    kinds, lengths, stamps, words = (parts[place::5] for place in range(1, 5))
    if not words or any(parts[:-1:5]):
        return 0
    sizes = list(map(len, words))
    said = struct.unpack(f">{len(sizes)}L", b"".join(lengths))
    right = [size + LEAST_BYTES for size in sizes]
    if max(said) >= PIECE_BYTES or list(said) != right:
        return 0
    rows.kinds += b"".join(kinds)
    rows.stamps += stamps
    rows.words += words
    return sum(sizes) + _AROUND * len(sizes)


def stamp_of(ts_ns: int) -> bytes:
    """The engine's stamp of a time in nanoseconds since 1970."""
    seconds, rest = divmod(ts_ns, 1_000_000_000)
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z".encode()


def _are_stamps(texts: Sequence[bytes]) -> bool:
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
            for second in {text[:19] for text in texts}
        )
    )

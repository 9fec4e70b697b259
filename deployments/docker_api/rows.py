"""Long answers of ordinary frames, one whole line each, without an object for every line.

The engine's stamps have one length, so their order as bytes is their order in time.
"""

import re
import struct
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import BinaryIO

from deployments.docker_api.frames import (
    HEADER,
    STREAMS,
    RawLine,
    timestamp_ns,
)

READ_BYTES = 256 * 1024
STAMP_BYTES = len("2026-11-29T17:24:29.432574484Z")
LEAST_BYTES = STAMP_BYTES + len(" \n")
PIECE_BYTES = 16 * 1024
"""A payload of this length may be a piece of a longer line."""
_Z, _SPACE, _NEWLINE = b"Z \n"
_FRAME = re.compile(
    rb"([\x01\x02])\0\0\0(.{4})([0-9T:.-]{%d}Z) ([^\n]*)\n" % (STAMP_BYTES - 1),
    re.DOTALL,
)
_AROUND = HEADER.size + LEAST_BYTES
"""What a frame has besides its words."""


@dataclass(slots=True)
class LogRows:
    """Lines in the order of the answer: stream and stamp as ``keys``, and what they say.

    ``cut`` when the answer was longer than was asked for.
    """

    kinds: list[int] = field(default_factory=list)
    stamps: list[bytes] = field(default_factory=list)
    words: list[bytes] = field(default_factory=list)
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

    def holding(self, searched: Iterable[bytes]) -> list[int]:
        """The places of lines that hold one of the words, in order."""
        # The lines hold no newline themselves, so that no word is found across two of them.
        whole = b"\n".join(self.words)
        ends = list(accumulate(map(len, self.words), lambda end, more: end + 1 + more))
        found = set()
        for word in searched:
            place = whole.find(word)
            while place >= 0:
                line = bisect_left(ends, place + 1)
                found.add(line)
                place = whole.find(word, ends[line])
        return sorted(found)


class Again:
    """An answer of which a part was read already, to be read from its beginning."""

    def __init__(self, read: Iterable[bytes], answer: BinaryIO) -> None:
        self._read = b"".join(read)
        self._place = 0
        self._answer = answer

    def read(self, size: int) -> bytes:
        """Up to so many bytes; fewer only at the end."""
        part = self._read[self._place : self._place + size]
        self._place += len(part)
        return part if len(part) == size else part + self._answer.read(size - len(part))


def read_rows(answer: BinaryIO, most_bytes: int) -> LogRows | Again:
    """The lines of an answer up to ``most_bytes`` of them, or the answer if a frame is none."""
    rows, pieces, rest, size = LogRows(), [], b"", 0
    kinds, stamps, words = rows.kinds, rows.stamps, rows.words
    unpack, before = HEADER.unpack_from, 0
    while piece := answer.read(READ_BYTES):
        pieces.append(piece)
        block = rest + piece
        place, last = (
            _taken_at_once(rows, block, most_bytes - size),
            len(block) - HEADER.size,
        )
        if place:
            size += place - _AROUND * (len(words) - before)
            before = len(words)
        while place <= last:
            kind, length = unpack(block, place)
            start = place + HEADER.size
            end = start + length
            if end > len(block):
                break
            says = start + STAMP_BYTES
            if (
                kind not in STREAMS
                or not LEAST_BYTES <= length < PIECE_BYTES
                or block[end - 1] != _NEWLINE
                or block[says] != _SPACE
                or block[says - 1] != _Z
            ):
                return Again(pieces, answer)
            kinds.append(kind)
            stamps.append(block[start:says])
            words.append(block[says + 1 : end - 1])
            size += length - LEAST_BYTES
            place = end
            if size > most_bytes:
                rows.cut = True
                return rows if _are_stamps(stamps) else Again(pieces, answer)
        before, rest = len(words), block[place:]
    return rows if _are_stamps(stamps) else Again(pieces, answer)


def _taken_at_once(rows: LogRows, block: bytes, most_bytes: int) -> int:
    """Take the frames of a block without looking at each; returns up to where, 0 if that cannot be.

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
    heads = {text[:20] for text in texts}
    return all(
        head.endswith(b".")
        and timestamp_ns(f"{head[:-1].decode('ascii', 'replace')}Z") is not None
        for head in heads
    ) and (not texts or b"".join([text[20:-1] for text in texts]).isdigit())

"""Counting: acceptance lines of V1 engines in blocks of bytes, at about the cost of a plain search.

For streams in which nothing but the counts matters. A byte that is rare in logs is looked for,
which the C library does at memory speed; where it turns out to be frequent, the whole marker is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

BLOCK_BYTES = 256 * 1024
_MARK = b"SpecDecoding metrics: "
_RARE = b"D"
_BEFORE = _MARK.index(_RARE)
_SPARSE = 1024
"""Bytes for each rare byte below which looking for it costs more than it saves."""

_FIELDS = re.compile(
    rb"SpecDecoding metrics: Mean acceptance length: ([\d.]{1,12}|nan), "
    rb"Accepted throughput: ([\d.]{1,16}) tokens/s, Drafted throughput: ([\d.]{1,16}) tokens/s, "
    rb"Accepted: (\d{1,15}) tokens, Drafted: (\d{1,15}) tokens, "
    rb"Per-position acceptance rate: ([\d., ]{0,8000}?), Avg Draft acceptance rate: ([\d.]{1,6}|nan)%"
)


class Readable(Protocol):
    """Something that bytes come from, such as a file opened without a buffer."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill the buffer; 0 is the end."""


@dataclass(slots=True)
class Counted:
    """Sums over all lines; ``unread`` lines have the marker and another form.

    ``dense`` logs are full of the rare byte: the rest of them is searched plainly.
    """

    lines: int = 0
    accepted: int = 0
    drafted: int = 0
    unread: int = 0
    dense: bool = False
    last: tuple[bytes, ...] = field(default=())


def count_acceptance(source: Readable) -> Counted:
    """Add up every acceptance line of a log, in constant memory."""
    counted = Counted()
    buffer = bytearray(BLOCK_BYTES)
    view = memoryview(buffer)
    kept = 0
    while True:
        got = source.readinto(view[kept:]) or 0
        end = kept + got
        cut = buffer.rfind(b"\n", 0, end) + 1 if got else end
        if cut:
            _count(buffer, cut, counted)
        elif got and end == BLOCK_BYTES:
            cut = end  # a line that is longer than a block holds no acceptance line
        if not got:
            return counted
        kept = end - cut
        view[:kept] = view[cut:end]


def _count(buffer: bytearray, end: int, counted: Counted) -> None:
    for start in _places(buffer, end, counted):
        found = _FIELDS.match(buffer, start, end)
        if found is None:
            counted.unread += 1
            continue
        fields = found.groups()
        counted.lines += 1
        counted.accepted += int(fields[3])
        counted.drafted += int(fields[4])
        counted.last = fields


def _places(buffer: bytearray, end: int, counted: Counted) -> Iterator[int]:
    """Where the marker begins."""
    if counted.dense:
        yield from _plain(buffer, 0, end)
        return
    patience = end // _SPARSE + 16
    find, begins = buffer.find, buffer.startswith
    place = find(_RARE, 0, end)
    while place >= 0:
        start = place - _BEFORE
        if start >= 0 and begins(_MARK, start, end):
            yield start
            place = start + len(_MARK)
        else:
            patience -= 1
            if patience < 0:
                counted.dense = True
                yield from _plain(buffer, place, end)
                return
        place = find(_RARE, place + 1, end)


def _plain(buffer: bytearray, start: int, end: int) -> Iterator[int]:
    """The same by looking for the whole marker."""
    place = buffer.find(_MARK, start, end)
    while place >= 0:
        yield place
        place = buffer.find(_MARK, place + len(_MARK), end)

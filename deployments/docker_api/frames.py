"""The engine's log stream: multiplex frames with time stamps, joined to whole lines.

Docker Engine cuts a line into pieces of 16,384 bytes, each a frame with a time stamp of its own and only
the last with the newline (measured with 20.10). Every read asks for ``timestamps=1``.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

HEADER = struct.Struct(">BxxxL")
STREAMS = {1: "stdout", 2: "stderr"}
LONGEST_FRAME = 1 << 20
LONGEST_LINE = 64 * 1024
_STAMP_LENGTH = len("2026-11-29T17:24:29.432574484Z")


@dataclass(frozen=True, slots=True)
class Frame:
    """One piece of output; ``ends_line`` is false for all pieces of a long line but the last."""

    stream: str
    ts_ns: int
    payload: bytes
    ends_line: bool


@dataclass(frozen=True, slots=True)
class RawLine:
    """A whole line without its newline, with the time stamp of its first piece in nanoseconds.

    ``whole`` is false for what has no newline yet; ``truncated`` for what was longer than 64 kB.
    """

    stream: str
    ts_ns: int
    data: bytes
    truncated: bool
    whole: bool = True


class Readable(Protocol):
    """An answer; fewer bytes than were asked for come at its end only."""

    def read(self, size: int, /) -> bytes:
        """Read so many bytes."""


def read_frames(answer: Readable) -> Iterator[Frame]:
    """Cut the answer into frames; frames without a time stamp are the engine's own words and skipped.

    Raises:
        ValueError: the answer is no multiplexed log (the container has a terminal).
    """
    while len(header := answer.read(HEADER.size)) == HEADER.size:
        kind, length = HEADER.unpack(header)
        if kind not in STREAMS or length > LONGEST_FRAME:
            raise ValueError(f"no log frame: kind {kind}, length {length}")
        body = answer.read(length)
        if len(body) < length:
            return
        stamp, payload = body[:_STAMP_LENGTH], body[_STAMP_LENGTH + 1 :]
        ts_ns = timestamp_ns(stamp.decode("ascii", "replace"))
        if ts_ns is not None:
            ends = payload.endswith(b"\n")
            yield Frame(STREAMS[kind], ts_ns, payload.removesuffix(b"\n"), ends)


@dataclass(slots=True)
class _Pending:
    ts_ns: int
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def add(self, payload: bytes) -> None:
        """Keep at most ``LONGEST_LINE`` bytes."""
        room = LONGEST_LINE - len(self.data)
        self.truncated |= len(payload) > room
        self.data += payload[:room]

    def line(self, stream: str, *, whole: bool) -> RawLine:
        """What was collected, as a line."""
        return RawLine(stream, self.ts_ns, bytes(self.data), self.truncated, whole)


def join_lines(frames: Iterable[Frame]) -> Iterator[RawLine]:
    """Join pieces to lines in the order in which lines end; unfinished ones come last."""
    pending: dict[str, _Pending] = {}
    for frame in frames:
        line = pending.setdefault(frame.stream, _Pending(frame.ts_ns))
        line.add(frame.payload)
        if frame.ends_line:
            yield pending.pop(frame.stream).line(frame.stream, whole=True)
    for stream, line in pending.items():
        yield line.line(stream, whole=False)


def timestamp_ns(text: str) -> int | None:
    """Nanoseconds since 1970 of ``2026-11-29T17:24:29.432574484Z``; ``None`` for anything else.

    Takes any number of fraction digits, as ``StartedAt`` of an inspection has.
    """
    head, _dot, fraction = text.removesuffix("Z").partition(".")
    seconds = _seconds(head) if text.endswith("Z") else None
    if seconds is None or not (fraction or "0").isdecimal():
        return None
    return seconds * 1_000_000_000 + int(fraction[:9].ljust(9, "0"))


@lru_cache(maxsize=64)
def _seconds(text: str) -> int | None:
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def since_argument(ts_ns: int) -> str:
    """``<seconds>.<9 digits>``: the only form that the engine reads exactly; it is inclusive."""
    return f"{ts_ns // 1_000_000_000}.{ts_ns % 1_000_000_000:09d}"

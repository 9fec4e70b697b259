"""Lines of a log as text, each made when it is asked for where there are many."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from deployments.docker_api.frames import STREAMS, RawLine
from deployments.docker_api.rows import LogRows

STORED_BESIDE = 76
"""Bytes that a line takes in a json-file besides its words."""


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


def log_line(raw: RawLine, sequence: int = 0) -> LogLine:
    """The line as text."""
    return LogLine(
        stream=raw.stream,
        ts_ns=raw.ts_ns,
        sequence=sequence,
        text=raw.data.decode("utf-8", "replace").removesuffix("\r"),
        truncated=raw.truncated,
    )


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
        """The lines that hold one of the words that they were read for.

        Raises:
            ValueError: they were read for others.
        """
        if self._rows.marks != tuple(word.encode("ascii") for word in words):
            raise ValueError("These lines were read for other words.")
        some = self._rows.held
        if len(self) < len(self._rows):
            ours = set(self._places)
            some = [place for place in some if place in ours]
        return (log_line(self._rows.line(place)) for place in some)

    def amount_of_bytes(self, stream: str) -> int:
        """About how many bytes the lines of the stream take where the engine keeps them."""
        lines, whole = self.amount(stream), self._rows.size
        if len(self) < len(self._rows):
            whole = sum(len(self._rows.words(place)) for place in self._places)
        return whole * lines // len(self) + lines * STORED_BESIDE if lines else 0

    def amount(self, stream: str) -> int:
        """How many lines are of the stream."""
        kinds, places = self._rows.kinds, self._places
        if not isinstance(places, range):
            kinds = bytearray([kinds[place] for place in places])
        return sum(
            kinds.count(kind) for kind, name in STREAMS.items() if name == stream
        )


def bytes_of(lines: Sequence[LogLine], stream: str) -> int:
    """About how many bytes the engine's file takes for the lines of the stream."""
    if isinstance(lines, ManyLines):
        return lines.amount_of_bytes(stream)
    return sum(len(one.text) + STORED_BESIDE for one in lines if one.stream == stream)


def lines_holding(lines: Sequence[LogLine], words: Sequence[str]) -> Iterator[LogLine]:
    """The lines that hold one of the words, in their order.

    Raises:
        ValueError: they were read for other words.
    """
    if isinstance(lines, ManyLines):
        return lines.holding(words)
    return (line for line in lines if any(word in line.text for word in words))


def amount_of(lines: Sequence[LogLine], stream: str) -> int:
    """How many lines are of the stream."""
    if isinstance(lines, ManyLines):
        return lines.amount(stream)
    return sum(line.stream == stream for line in lines)

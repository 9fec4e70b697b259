"""Scanning: the few lines of a large log that say something, found without touching the rest."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from deployments.telemetry.logs.lines import LONGEST_LINE_BYTES, LogLine, parse_line

BLOCK_BYTES = 1024 * 1024
LARGE_BYTES = 256 * 1024
"""Below this the whole log is read line by line, which takes milliseconds."""

SLICE = 2048
"""Characters that are looked through at once: about twenty lines."""

FIRST_LINES = 500
"""Lines that are read one by one: any of them may tell whose log it is."""

_WRAPPED = re.compile(rb"\x1b|\bstd(?:out|err) [FP] ")


class LineReader(Protocol):
    """Takes the lines that matter, in order."""

    @property
    def matters(self) -> Callable[[str], bool]:
        """Whether a text may hold something; it changes with what was read."""

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to the last one."""

    def read(self, line: LogLine) -> None:
        """Take one line."""

    def skipped(self, message: str) -> None:
        """Be told the line before the next one."""


def is_plain(head: bytes) -> bool:
    """Whether words stand in the raw lines as they are: no colours, no pieces to join."""
    return not _WRAPPED.search(head[:BLOCK_BYTES])


def blocks_of(data: bytes) -> Iterator[bytes]:
    """The data in pieces, as a file that is read in pieces would come."""
    for start in range(0, len(data), BLOCK_BYTES):
        yield data[start : start + BLOCK_BYTES]


def scan(reader: LineReader, blocks: Iterable[bytes]) -> None:
    """Give the reader the lines that matter; memory does not grow with the log."""
    number = 1
    rest = b""
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if not end:
            rest = (rest + block)[: 2 * BLOCK_BYTES]
            continue
        number = _scan_text(
            reader, (rest + block[:end]).decode("utf-8", "replace"), number
        )
        rest = block[end:]
    if rest:
        _scan_text(reader, rest.decode("utf-8", "replace"), number)


def _scan_text(reader: LineReader, text: str, number: int) -> int:
    """Look through whole lines slice by slice; returns the number of the next line."""
    start, end = 0, len(text)
    while start < end:
        cut = text.find("\n", start + SLICE) + 1 or end
        part = text[start:cut]
        if number <= FIRST_LINES or reader.is_open or reader.matters(part):
            before = text[
                text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)
            ]
            _scan_lines(reader, part, number, before)
        number += part.count("\n")
        start = cut
    return number


def _scan_lines(reader: LineReader, part: str, number: int, before: str) -> None:
    for line in part.split("\n"):
        if number <= FIRST_LINES or reader.is_open or reader.matters(line):
            reader.skipped(before)
            for piece in line[:LONGEST_LINE_BYTES].split("\r"):
                if piece:
                    reader.read(parse_line(piece, number))
        before = line
        number += 1

"""Lines: log bytes to messages, with the prefixes of vLLM, Docker and Kubernetes taken off."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

LONGEST_LINE_BYTES = 64 * 1024
PIECE_BYTES = 16 * 1024
"""Docker Engine takes a longer line in pieces of so many bytes, and stamps each of them."""

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")
_LONGEST_PREFIX = 300
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COMPOSE = re.compile(r"(?P<source>[A-Za-z0-9][\w.-]{0,127}) {1,64}\| ")
_OUTER_TIME = re.compile(
    r"(?P<outer>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
    r"(?: \| | )"
)
_CRI = re.compile(r"(?P<stream>stdout|stderr) (?P<tag>[FP]) ?")
_KUBECTL = re.compile(r"\[(?P<source>pod/[\w.-]{1,253}/[\w.-]{1,253})\] ")
_STERN = re.compile(r"(?P<source>[\w.-]{1,253} [\w.-]{1,253}) (?=\([A-Za-z])")
_PROCESS = re.compile(r"\((?P<process>[A-Za-z][\w-]{0,63}) pid=(?P<pid>\d{1,10})\) ?")
_HEADER = re.compile(
    r"(?:\((?P<process>[A-Za-z][\w-]{0,63}) pid=(?P<pid>\d{1,10})\) )?"
    r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) "
    r"(?P<time>\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d{1,6})? "
    r"\[?(?P<place>[\w./-]{1,128}:\d{1,6})\](?: |$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One message and where it came from.

    ``number`` is the physical line, from 1, split at LF only. ``log_time`` is vLLM's own stamp
    (``MM-DD HH:MM:SS``, no year, no zone), ``outer_time`` the stamp of the container runtime.
    ``source`` is the Compose service or the pod. ``place`` is ``file.py:line``.
    """

    number: int
    message: str
    process: str | None = None
    pid: int | None = None
    level: str | None = None
    log_time: str | None = None
    place: str | None = None
    outer_time: str | None = None
    source: str | None = None
    stream: str | None = None
    partial: bool = False

    @property
    def has_header(self) -> bool:
        """Whether the line begins a message of its own, by vLLM's prefix."""
        return self.level is not None or self.process is not None


def without_sequences(text: str) -> str:
    """Take off terminal escape sequences: colours, cursor movements, titles, links."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def without_escapes(text: str) -> str:
    """Take off terminal escape sequences and control characters other than tab."""
    return text if text.isprintable() else _CONTROL.sub("", without_sequences(text))


def parse_line(text: str, number: int = 1) -> LogLine:
    """Split one line into its prefixes and its message; never raises, takes linear time."""
    text = without_escapes(text[:LONGEST_LINE_BYTES])
    if text[:1] == "(" and (header := _HEADER.match(text)):
        process, pid, level, time, place = header.groups()
        return LogLine(
            number=number,
            message=text[header.end() :],
            process=process,
            pid=int(pid) if pid else None,
            level=level,
            log_time=time,
            place=place,
        )
    found, position = _runtime_prefix(text)
    header = _HEADER.search(text, position) or _PROCESS.match(text, position)
    if header:
        found |= header.groupdict()
        position = header.end()
    pid = found.get("pid")
    return LogLine(
        number=number,
        message=text[position:],
        process=found.get("process"),
        pid=int(pid) if pid else None,
        level=found.get("level"),
        log_time=found.get("time"),
        place=found.get("place"),
        outer_time=found.get("outer"),
        source=found.get("source"),
        stream=found.get("stream"),
        partial=found.get("tag") == "P",
    )


def _runtime_prefix(text: str) -> tuple[dict[str, str | None], int]:
    """Find what Docker Compose, the runtime, Kubernetes or ``stern`` put in front."""
    found: dict[str, str | None] = {}
    position = 0
    if text[:1] == "(":
        return found, position
    for pattern in (_KUBECTL, _COMPOSE, _OUTER_TIME, _CRI, _STERN):
        match = pattern.match(text, position)
        if match:
            found |= match.groupdict()
            position = match.end()
    return found, position


def read_lines(data: bytes) -> Iterator[LogLine]:
    """Yield the messages of a whole log.

    A carriage return is no line end: the pieces between are read one by one under the number of
    their line. Pieces that a Kubernetes runtime split (tag ``P``) are joined. Lines beyond
    64 KiB are cut; bytes that are no UTF-8 become the replacement character.
    """
    return lines_of_blocks((data,))


def lines_of_blocks(blocks: Iterable[bytes]) -> Iterator[LogLine]:
    """Yield the messages of a log that comes in pieces of any size, as ``read_lines`` does."""
    open_pieces: dict[tuple[str | None, str | None], LogLine] = {}
    for number, raw in enumerate(_split(blocks), start=1):
        whole = without_inner_stamps(raw)
        text = whole[:LONGEST_LINE_BYTES].decode("utf-8", "replace")
        for line in _pieces(text, number):
            joined = _joined(open_pieces, line)
            if joined is not None and (joined.message or joined.stream is None):
                yield joined
    yield from open_pieces.values()


def _pieces(text: str, number: int) -> Iterator[LogLine]:
    """The messages of one physical line, each with its prefixes taken off."""
    entry = _entry_of(text) if text[:1] == "{" else None
    if entry is None:
        for piece in filter(None, text.split("\r")):
            yield parse_line(piece, number)
        return
    pieces = [*filter(None, entry["log"].replace("\n", "\r").split("\r"))]
    for piece in pieces or [""]:
        yield replace(
            parse_line(piece, number),
            outer_time=entry["time"],
            stream=entry["stream"],
            partial=not entry["log"].endswith("\n"),
        )


def _entry_of(text: str) -> dict[str, str] | None:
    """A line of Docker's own log file; one without a newline in it goes on in the next."""
    if '"log":' not in text:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    words = [found.get(name) for name in ("log", "stream", "time")]
    return found if all(isinstance(word, str) for word in words) else None


def without_inner_stamps(raw: bytes) -> bytes:
    """Take off the stamps that ``docker logs --timestamps`` leaves within a long line."""
    if len(raw) <= PIECE_BYTES or not (first := _STAMP.search(raw[:_LONGEST_PREFIX])):
        return raw
    start = first.end() + PIECE_BYTES
    pieces = [raw[:start]]
    while stamp := _STAMP.match(raw, start):
        start = stamp.end() + PIECE_BYTES
        pieces.append(raw[stamp.end() : start])
    return b"".join((*pieces, raw[start:]))


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The physical lines; of one without an end no more is kept than is read of it."""
    rest = b""
    for block in blocks:
        first, *lines = block.split(b"\n")
        rest = (rest + first)[: LONGEST_LINE_BYTES + 1]
        if lines:
            yield rest
            rest = lines.pop()
            yield from lines
    yield rest


def _joined(
    open_pieces: dict[tuple[str | None, str | None], LogLine], line: LogLine
) -> LogLine | None:
    """Join a line with the open piece of its stream; ``None`` while more is to come."""
    if line.stream is None:
        return line
    key = (line.source, line.stream)
    begun = open_pieces.pop(key, None)
    if begun is not None:
        joined = (begun.message + line.message)[:LONGEST_LINE_BYTES]
        line = replace(begun, message=joined, partial=line.partial)
    if line.partial:
        open_pieces[key] = line
        return None
    return line

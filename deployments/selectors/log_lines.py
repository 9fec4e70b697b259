"""Lines of a tail as they are shown: time, level, the piece that was searched, parsed values."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import lru_cache
from time import monotonic

from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.telemetry.logs.acceptance import AcceptanceRecord, acceptance_of
from deployments.telemetry.logs.lines import parse_line
from deployments.telemetry.logs.searching import LogPattern

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
ERROR_LEVELS = frozenset({"ERROR", "CRITICAL"})
SEARCH_BUDGET_S = 0.4
PANEL = "panel"
"""The stream of lines that are no output: what the panel says about the log."""
SKIPPED, RESTARTED = "skipped", "restarted"
_WORDS = re.compile(r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):\s")
_TRACEBACK = "Traceback (most recent call last)"
_METRICS = ("peculative metrics:", "SpecDecoding metrics:", " / drafted ")

Stored = tuple[int, int, str, str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """What is left out: lines below a level, and lines that a pattern does not match."""

    level: str = ""
    pattern: LogPattern | None = None


@dataclass(frozen=True, slots=True)
class LogSource:
    """The stored lines of one tail; ``key`` begins the keys of its lines, ``title`` names it."""

    key: str
    title: str
    lines: Sequence[Stored]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line; ``before``, ``hit`` and ``after`` are its text around what was searched for.

    ``record`` are the values of an acceptance line. ``source`` is empty where only one replica
    is shown. ``note`` says that the panel speaks and not the container.
    """

    key: str
    number: int
    ts_ns: int
    clock: str
    level: str
    source: str
    before: str
    hit: str = ""
    after: str = ""
    record: AcceptanceRecord | None = None
    note: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return f"{self.before}{self.hit}{self.after}"

    @property
    def is_error(self) -> bool:
        """Whether it says that something failed."""
        return self.level in ERROR_LEVELS


@dataclass(frozen=True, slots=True)
class ShownLines:
    """The lines that a filter keeps; ``timed_out`` says that the search was given up."""

    lines: tuple[ShownLine, ...]
    held: int
    timed_out: bool


def shown_lines(
    sources: Sequence[LogSource], keep: LogFilter, *, most: int
) -> ShownLines:
    """The newest lines of one or several tails in the order of their time stamps."""
    zone, today = timezone.get_current_timezone(), timezone.localdate()
    everything = [
        (stored, level, source)
        for source in sources
        for stored, level in _with_levels(source.lines)
    ]
    if len(sources) > 1:
        everything.sort(key=lambda one: one[0][1])
    everything = everything[-most:]
    deadline = monotonic() + SEARCH_BUDGET_S
    lines: list[ShownLine] = []
    for stored, level, source in everything:
        if not _is_kept(stored, level, keep):
            continue
        if keep.pattern is not None and monotonic() > deadline:
            return ShownLines(tuple(lines), len(everything), timed_out=True)
        clock = _clock(stored[1], zone, today)
        lines.append(_shown(stored, level, source, keep.pattern, clock))
    return ShownLines(tuple(lines), len(everything), timed_out=False)


def _with_levels(lines: Iterable[Stored]) -> Iterator[tuple[Stored, str]]:
    """Each line with its level; one without belongs to the message before it on its stream."""
    last: dict[str, str] = {}
    for stored in lines:
        level = level_of(stored[3])
        if level:
            last[stored[2]] = level
        yield stored, level or last.get(stored[2], "")


def level_of(text: str) -> str:
    """The level that a line itself names, empty for none."""
    if _TRACEBACK in text:
        return "ERROR"
    if not any(level in text for level in LEVELS):
        return ""
    line = parse_line(text)
    word = None if line.level else _WORDS.match(line.message)
    return line.level or (word["level"] if word else "")


def _is_kept(stored: Stored, level: str, keep: LogFilter) -> bool:
    if stored[2] == PANEL:
        return True
    if keep.level and (not level or LEVELS.index(level) < LEVELS.index(keep.level)):
        return False
    return keep.pattern is None or keep.pattern.matches(stored[3])


def _shown(
    stored: Stored,
    level: str,
    source: LogSource,
    pattern: LogPattern | None,
    clock: str,
) -> ShownLine:
    number, ts_ns, stream, text, cut = stored
    key = f"{source.key}-{number}"
    if stream == PANEL:
        said = _said(text)
        return ShownLine(key, number, ts_ns, clock, "", source.title, said, note=True)
    span = pattern.span(text) if pattern else None
    start, end = span or (len(text), len(text))
    after = text[end:] + (f" {_('(cut)')}" if cut else "")
    return ShownLine(
        key=key,
        number=number,
        ts_ns=ts_ns,
        clock=clock,
        level=level,
        source=source.title,
        before=text[:start],
        hit=text[start:end],
        after=after,
        record=record_of(text),
    )


def record_of(text: str) -> AcceptanceRecord | None:
    """The values of an acceptance line, ``None`` for any other line."""
    if not any(mark in text for mark in _METRICS):
        return None
    return acceptance_of(parse_line(text))


def _said(code: str) -> str:
    """What the panel says in between."""
    if code == RESTARTED:
        return _("The container was started again.")
    return _("Lines are missing here: more came than this view reads at once.")


def _clock(ts_ns: int, zone: tzinfo, today: date) -> str:
    """The engine's time stamp in the person's zone, with the day if it is not today."""
    if ts_ns <= 0:
        return ""
    head = _second(ts_ns // 1_000_000_000, zone, today)
    return f"{head}.{ts_ns // 1_000_000 % 1000:03d}"


@lru_cache(maxsize=4096)
def _second(seconds: int, zone: tzinfo, today: date) -> str:
    moment = datetime.fromtimestamp(seconds, tz=zone)
    return moment.strftime("%H:%M:%S" if moment.date() == today else "%m-%d %H:%M:%S")

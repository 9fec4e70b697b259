"""The input of a check as lines with the findings beside them, short enough for one page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deployments.planning.rules.launch.rule import LaunchFinding

MOST_WHOLE_LINES = 240
MOST_SHOWN = 60
AROUND = 3
LONGEST_LINE = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the input, cut where it is very long."""

    number: int
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A marked line with its findings, and the lines below it up to the next marked one.

    The first segment may have no marked line. ``skipped`` lines are left out below ``rest``, before
    ``tail``.
    """

    tone: str = ""
    hit: Line | None = None
    findings: tuple[LaunchFinding, ...] = ()
    rest: tuple[Line, ...] = ()
    skipped: int = 0
    tail: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The segments, the findings without a line, and how many findings are not shown."""

    segments: tuple[Segment, ...]
    loose: tuple[LaunchFinding, ...]
    lines: int
    unshown: int = 0


def listing_of(text: str, findings: Sequence[LaunchFinding]) -> Listing:
    """Lay the findings beside the lines; of a long input, the lines around findings."""
    written = text.split("\n")
    if len(written) > 1 and not written[-1]:
        written.pop()
    by_line: dict[int, list[LaunchFinding]] = {}
    loose: list[LaunchFinding] = []
    for one in findings:
        if one.line is not None and 1 <= one.line <= len(written):
            by_line.setdefault(one.line, []).append(one)
        else:
            loose.append(one)
    shown = loose[:MOST_SHOWN]
    marked: list[int] = []
    for number in sorted(by_line, key=lambda number: _order(by_line[number], number)):
        if len(shown) + len(by_line[number]) <= MOST_SHOWN or not marked:
            marked.append(number)
            shown = [*shown, *by_line[number][:MOST_SHOWN]]
    return Listing(
        segments=tuple(_segments(written, sorted(marked), by_line)),
        loose=tuple(loose[:MOST_SHOWN]),
        lines=len(written),
        unshown=len(findings) - len(shown),
    )


_RANK = {"error": 0, "warning": 1, "info": 2}


def _order(found: Sequence[LaunchFinding], number: int) -> tuple[int, int]:
    return min(_RANK[one.severity.value] for one in found), number


def _segments(
    written: Sequence[str],
    marked: Sequence[int],
    by_line: dict[int, list[LaunchFinding]],
) -> Iterator[Segment]:
    whole = len(written) <= MOST_WHOLE_LINES
    starts = [0, *marked]
    for start, end in zip(starts, [*marked, len(written) + 1], strict=True):
        below = [_line(written, number) for number in range(start + 1, end)]
        rest, skipped, tail = _window(below, whole=whole)
        if start == 0:
            if below:
                yield Segment(rest=rest, skipped=skipped, tail=tail)
            continue
        found = sorted(by_line[start], key=lambda one: _RANK[one.severity.value])
        found = found[:MOST_SHOWN]
        yield Segment(
            tone=found[0].severity.value,
            hit=_line(written, start),
            findings=tuple(found),
            rest=rest,
            skipped=skipped,
            tail=tail,
        )


def _window(
    lines: Sequence[Line], *, whole: bool
) -> tuple[tuple[Line, ...], int, tuple[Line, ...]]:
    if whole or len(lines) <= 2 * AROUND + 1:
        return tuple(lines), 0, ()
    return tuple(lines[:AROUND]), len(lines) - 2 * AROUND, tuple(lines[-AROUND:])


def _line(written: Sequence[str], number: int) -> Line:
    code = written[number - 1].rstrip("\r")
    if len(code) > LONGEST_LINE:
        code = f"{code[:LONGEST_LINE]}…"
    return Line(number=number, code=code)

"""Log and counters tell of the same tokens: what each adds to what was counted, never twice.

A printed window is what the counters grew by since the window before, so both are points of one
course. What is counted follows whichever is ahead.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.prometheus import EngineCounters

DIFFERS_BY = 0.01
"""Log and counters may differ by 1 % (rounding of printed shares, a window cut by a restart)."""
LEAST_DIFFERENCE = 50
"""Drafted tokens; with less there is nothing to compare."""
UNKNOWN = Counts(num_drafts=0)


def stored_counts(row: Sequence[object]) -> Counts:
    """Counts from the list that a cursor keeps; nothing yet is nothing counted."""
    if not row:
        return UNKNOWN
    accepted, drafted, num_drafts, per_position = row
    positions = per_position if isinstance(per_position, list) else []
    return Counts(
        accepted=_number(accepted),
        drafted=_number(drafted),
        num_drafts=None if num_drafts is None else _number(num_drafts),
        per_position=tuple(_number(one) for one in positions),
    )


def kept(counts: Counts) -> list[object]:
    """The list that a cursor keeps."""
    return [
        counts.accepted,
        counts.drafted,
        counts.num_drafts,
        list(counts.per_position),
    ]


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def added(one: Counts, other: Counts) -> Counts:
    """Both together; positions that one of them lacks were accepted there not once."""
    known = one.num_drafts is not None and other.num_drafts is not None
    return Counts(
        accepted=one.accepted + other.accepted,
        drafted=one.drafted + other.drafted,
        num_drafts=(one.num_drafts or 0) + (other.num_drafts or 0) if known else None,
        per_position=tuple(
            a + b for a, b in _pairs(one.per_position, other.per_position)
        ),
    )


def news(seen: Counts, counted: Counts) -> Counts:
    """What ``seen`` has that is not counted yet; nothing where it lags behind."""
    drafted = max(0, seen.drafted - counted.drafted)
    accepted = min(max(0, seen.accepted - counted.accepted), drafted)
    drafts = None
    if seen.num_drafts is not None and counted.num_drafts is not None:
        drafts = min(max(0, seen.num_drafts - counted.num_drafts), drafted)
    most = drafted if drafts is None else drafts
    return Counts(
        accepted=accepted,
        drafted=drafted,
        num_drafts=drafts,
        per_position=tuple(
            min(max(0, a - b), most)
            for a, b in _pairs(seen.per_position, counted.per_position)
        )
        if drafted
        else (),
    )


def ahead(one: Counts, other: Counts) -> Counts:
    """The one that is further on the course."""
    return one if one.drafted >= other.drafted else other


def too_far_apart(less: Counts, more: Counts) -> bool:
    """Whether ``less`` exceeds ``more`` by more than rounding explains."""
    most = more.drafted * (1 + DIFFERS_BY) + LEAST_DIFFERENCE
    return less.drafted > most


def _pairs(one: Sequence[int], other: Sequence[int]) -> list[tuple[int, int]]:
    length = max(len(one), len(other))
    return [
        (
            one[place] if place < len(one) else 0,
            other[place] if place < len(other) else 0,
        )
        for place in range(length)
    ]


@dataclass(frozen=True, slots=True)
class EngineDelta:
    """What one engine drafted since the scrape before."""

    engine: str
    counts: Counts


def engine_counts(counters: EngineCounters) -> Counts | None:
    """An engine's counters as counts; ``None`` when it does not say what it drafted."""
    if counters.accepted is None or counters.drafted is None:
        return None
    return Counts(
        accepted=min(counters.accepted, counters.drafted),
        drafted=counters.drafted,
        num_drafts=counters.num_drafts,
        per_position=counters.accepted_per_position,
    )


def began_anew(now: Counts, before: Counts) -> bool:
    """Whether a counter is smaller than it was: the process started again."""
    return (
        now.drafted < before.drafted
        or now.accepted < before.accepted
        or (now.num_drafts or 0) < (before.num_drafts or 0)
    )


def shared_out(deltas: Sequence[EngineDelta], already: Counts) -> list[EngineDelta]:
    """The deltas without what the log had already told: taken off the engines in their order."""
    left: list[EngineDelta] = []
    for one in deltas:
        rest = news(one.counts, already)
        used = Counts(
            accepted=one.counts.accepted - rest.accepted,
            drafted=one.counts.drafted - rest.drafted,
            num_drafts=None
            if one.counts.num_drafts is None or rest.num_drafts is None
            else one.counts.num_drafts - rest.num_drafts,
            per_position=tuple(
                a - b for a, b in _pairs(one.counts.per_position, rest.per_position)
            ),
        )
        already = news(already, used)
        left.append(EngineDelta(one.engine, rest))
    return left

"""Alarms: which signs of a deployment are wrong, each with its numbers, window and threshold.

A sign is ``WRONG``, ``RIGHT`` or ``UNSURE``; the thresholds of wrong and right are apart, so that a
figure on the edge neither opens nor closes an alarm. The cause goes before its consequences: what
accepts nothing is not also low, fallen and out of order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from deployments.planning.text import text
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.advice import (
    ENOUGH_DRAFTS,
    ZERO_RATE,
    each_token,
    thresholds_for,
)
from deployments.telemetry.baseline import Baseline
from deployments.telemetry.diagnosis.acceptance_signs import LOOKUP_METHODS
from deployments.telemetry.host_signs import ClockOff, LogGrowth, clock, log_rate
from deployments.telemetry.signs import RIGHT, UNSURE, Sign, State

FEW_DRAFTS = 50
"""With fewer nothing can be said to be right again."""
RIGHT_ZERO_RATE = 0.02
BACK_ABOVE = 1.05
"""Low is over at 5 % above the threshold."""
FALLEN_TO, RECOVERED_TO = 0.85, 0.95
"""Of the accepted tokens per draft in the week before."""
RISE, LEVEL = 0.02, 0.005
"""A later draft position is accepted only where the earlier ones are, so its share never rises."""
ENOUGH_TOKENS = 1000


class Kind(StrEnum):
    """The signs, causes first."""

    SILENT_ZERO = "silent_zero"
    NO_DRAFTS = "no_drafts"
    BELOW_BAND = "below_band"
    DROP = "drop"
    ALL_ACCEPTED = "all_accepted"
    POSITIONS = "positions"
    DISAGREEMENT = "disagreement"
    GAP = "gap"
    LOG_RATE = "log_rate"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known of the live release of one deployment; prefill replicas are left out.

    ``window`` are the sums of the last ``window_s`` seconds, ``generated`` the tokens of that time
    (``None``: no counters were read). ``hours`` are (start, sums) of the seven days up to now with
    the same method and count, oldest first; ``differs`` what log and counters each say was
    drafted; ``lost_lines`` counts gaps of the last hour that no counter covers. ``log`` is the one
    that is thrown away soonest, ``clock`` the one that is furthest off; ``None`` is not measured.
    """

    method: str
    count: int | None
    window: Counts
    window_s: int
    positions: Counts
    generated: int | None = None
    baseline: Baseline | None = None
    hours: Sequence[tuple[int, Counts]] = ()
    week: Counts | None = None
    differs: tuple[int, int] | None = None
    lost_lines: int = 0
    log: LogGrowth | None = None
    clock: ClockOff | None = None


def judge(seen: Seen) -> dict[Kind, Sign]:
    """Every sign of one deployment."""
    signs = {
        Kind.SILENT_ZERO: _silent_zero(seen),
        Kind.NO_DRAFTS: _no_drafts(seen),
        Kind.DISAGREEMENT: _disagreement(seen),
        Kind.GAP: _gap(seen),
        Kind.LOG_RATE: log_rate(seen.log),
        Kind.CLOCK: clock(seen.clock),
    }
    followers = {
        Kind.BELOW_BAND: _below_band,
        Kind.DROP: _drop,
        Kind.ALL_ACCEPTED: _all_accepted,
        Kind.POSITIONS: _positions,
    }
    zero = signs[Kind.SILENT_ZERO].state is State.WRONG
    signs |= {kind: UNSURE if zero else look(seen) for kind, look in followers.items()}
    return signs


def might_have_fallen(window: Counts, week: Counts | None) -> bool:
    """Whether it is worth reading the hours of the week, which costs more than the rest."""
    if not week or not week.num_drafts or (window.num_drafts or 0) < FEW_DRAFTS:
        return False
    return _each(window) < RECOVERED_TO * _each(week)


def change_point(values: Sequence[float]) -> int | None:
    """The place from which on the values lie lower: the split that leaves the least squares.

    ``None`` when they do not fall, or with fewer than four values.
    """
    least, best = None, None
    for place in range(2, len(values)):
        before, after = values[:place], values[place:]
        means = sum(before) / len(before), sum(after) / len(after)
        if means[1] >= means[0]:
            continue
        rest = sum((one - means[0]) ** 2 for one in before)
        rest += sum((one - means[1]) ** 2 for one in after)
        if least is None or rest < least:
            least, best = rest, place
    return best if len(values) > 3 else None


def _enough(counts: Counts) -> bool:
    return (counts.num_drafts or 0) >= ENOUGH_DRAFTS


def _few(counts: Counts) -> bool:
    return (counts.num_drafts or 0) < FEW_DRAFTS


def _each(counts: Counts) -> float:
    """Accepted draft tokens per draft: the mean acceptance length without the target's own."""
    return counts.accepted / counts.num_drafts if counts.num_drafts else 0.0


def _measured(seen: Seen) -> dict[str, float | int | str]:
    counts = seen.window
    return {
        "accepted": counts.accepted,
        "drafted": counts.drafted,
        "drafts": counts.num_drafts or 0,
        "window_s": seen.window_s,
        "source": "minutes",
    }


def _minutes(seen: Seen) -> int:
    return seen.window_s // 60


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _silent_zero(seen: Seen) -> Sign:
    counts, rate = seen.window, seen.window.acceptance_rate
    if rate is None or _few(counts):
        return UNSURE
    if rate >= RIGHT_ZERO_RATE:
        return RIGHT
    if rate >= ZERO_RATE or not _enough(counts):
        return UNSURE
    return Sign(
        state=State.WRONG,
        text=text(
            "{accepted} of {drafted} drafted tokens were accepted in the last {minutes} minutes: "
            "{rate}, under {threshold} is no low rate but a mistake. Each draft is paid for and "
            "thrown away. Check that drafter, checkpoint and method belong together, or turn "
            "speculation off.",
            accepted=counts.accepted,
            drafted=counts.drafted,
            minutes=_minutes(seen),
            rate=_percent(rate),
            threshold=_percent(ZERO_RATE),
        ),
        evidence={**_measured(seen), "threshold": ZERO_RATE},
    )


def _no_drafts(seen: Seen) -> Sign:
    """n-gram and suffix draft only where text repeats, so they may well be silent."""
    if seen.window.drafted:
        return RIGHT
    tokens = seen.generated
    if seen.method in LOOKUP_METHODS or tokens is None or tokens < ENOUGH_TOKENS:
        return UNSURE
    return Sign(
        state=State.WRONG,
        text=text(
            "{tokens} tokens were generated in the last {minutes} minutes and not one was "
            "drafted, although the plan asks for {method}. Look in the start-up log whether "
            "speculation is on.",
            tokens=tokens,
            minutes=_minutes(seen),
            method=seen.method,
        ),
        evidence={**_measured(seen), "generated": tokens, "threshold": ENOUGH_TOKENS},
    )


def _below_band(seen: Seen) -> Sign:
    counts, rate = seen.window, seen.window.acceptance_rate
    count = seen.count
    if rate is None or not count or _few(counts) or seen.method in LOOKUP_METHODS:
        return UNSURE
    low = thresholds_for(seen.method, count).low
    if rate >= low * BACK_ABOVE:
        return RIGHT
    if rate >= low or not _enough(counts):
        return UNSURE
    return Sign(
        state=State.WRONG,
        text=text(
            "{rate} of the drafted tokens were accepted in the last {minutes} minutes "
            "({accepted} of {drafted}). With {count} tokens per draft, {each} per token make "
            "{threshold}; less is low. The advice below the acceptance charts says what to change.",
            rate=_percent(rate),
            minutes=_minutes(seen),
            accepted=counts.accepted,
            drafted=counts.drafted,
            count=count,
            each=f"{each_token(seen.method, count)[0]:.0%}",
            threshold=_percent(low),
        ),
        evidence={**_measured(seen), "threshold": low},
    )


def _drop(seen: Seen) -> Sign:
    counts, week, band = seen.window, seen.week, seen.baseline
    if not week or not week.num_drafts or _few(counts):
        return UNSURE
    here, there = _each(counts), _each(week)
    if here >= RECOVERED_TO * there:
        return RIGHT
    if not band or not band.length or not _enough(counts):
        return UNSURE
    if here >= FALLEN_TO * there or 1 + here >= band.length.low:
        return UNSURE
    place = change_point([1 + _each(one) for _, one in seen.hours])
    return Sign(
        state=State.WRONG,
        text=text(
            "{length} tokens per step in the last {minutes} minutes ({drafts} drafts); in the "
            "seven days before it was {before}, and nine hours of ten had more than {low}. Longer "
            "or other requests, another client or a driver update can be the reason.",
            length=f"{1 + here:.2f}",
            minutes=_minutes(seen),
            drafts=counts.num_drafts or 0,
            before=f"{1 + there:.2f}",
            low=f"{band.length.low:.2f}",
        ),
        evidence={
            **_measured(seen),
            "threshold": band.length.low,
            "week_length": 1 + there,
            "week_hours": band.hours,
        },
        began_s=seen.hours[place][0] if place is not None else None,
    )


def _all_accepted(seen: Seen) -> Sign:
    counts = seen.window
    if not counts.drafted or _few(counts):
        return UNSURE
    if counts.accepted < counts.drafted:
        return RIGHT
    if not _enough(counts):
        return UNSURE
    return Sign(
        state=State.WRONG,
        text=text(
            "All {drafted} tokens that were drafted in the last {minutes} minutes were accepted. "
            "No drafter is always right: a synthetic acceptance rate, a drafter that is the "
            "target itself, or one request repeated looks like this.",
            drafted=counts.drafted,
            minutes=_minutes(seen),
        ),
        evidence={**_measured(seen), "threshold": 1.0},
    )


def _positions(seen: Seen) -> Sign:
    rates = seen.positions.per_position_rates
    if not rates or len(rates) < 2 or _few(seen.positions):
        return UNSURE
    rises = [later - earlier for earlier, later in pairwise(rates)]
    most = max(rises)
    if most <= LEVEL:
        return RIGHT
    if most <= RISE or not _enough(seen.positions):
        return UNSURE
    place = rises.index(most)
    return Sign(
        state=State.WRONG,
        text=text(
            "Draft position {later} was accepted in {rate} of the drafts, position {earlier} only "
            "in {before}. A token is accepted only after the ones before it, so the counts are "
            "wrong: look for a known fault of this engine version.",
            later=place + 2,
            earlier=place + 1,
            rate=_percent(rates[place + 1]),
            before=_percent(rates[place]),
        ),
        evidence={
            "drafts": seen.positions.num_drafts or 0,
            "rise": round(most, 4),
            "threshold": RISE,
            "source": "hours",
        },
    )


def _disagreement(seen: Seen) -> Sign:
    if seen.differs is None:
        return RIGHT
    lines, counters = seen.differs
    return Sign(
        state=State.WRONG,
        text=text(
            "Since the engine started its log told of {lines} drafted tokens, its counters of "
            "{counters}. They come from the same place and may differ by 1 %. The larger sum is "
            "charted. Look whether something else writes into the log, or answers on the port.",
            lines=lines,
            counters=counters,
        ),
        evidence={
            "lines": lines,
            "counters": counters,
            "threshold": 0.01,
            "source": "run",
        },
    )


def _gap(seen: Seen) -> Sign:
    if not seen.lost_lines:
        return RIGHT
    return Sign(
        state=State.WRONG,
        text=text(
            "Log lines were thrown away before they were read, {times} times in the last hour, "
            "and no counters cover them: acceptance is charted too low. Let Docker keep more of "
            "the log (max-size, max-file), or let the panel reach the metrics of the engine.",
            times=seen.lost_lines,
        ),
        evidence={
            "gaps": seen.lost_lines,
            "window_s": 3600,
            "threshold": 0,
            "source": "gaps",
        },
    )

"""Drift: whether the arm that was measured first and last was the same both times, and what that leaves of a verdict."""

import math
from dataclasses import dataclass, replace

from deployments.planning.text import Text, text
from deployments.telemetry.benchmarks.intervals import Ratio, ratio
from deployments.telemetry.benchmarks.loads import Load, at_load
from deployments.telemetry.benchmarks.verdict import (
    Comparison,
    Level,
    Runs,
    Verdict,
    compare,
    limit_text,
    overall,
    pays_up_to,
)

WORTH_A_WORD = 0.02
"""Less than two per cent between the first and the last measurement says nothing of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How the arm with speculation changed between its two measurements at one load: last over first."""

    load: Load
    change: Ratio
    hides_the_effect: bool


def judge_in_turn(
    off: Runs, first: Runs, last: Runs
) -> tuple[Comparison, tuple[Drift, ...]]:
    """Judge a pair that was measured with, without and with speculation again.

    Where the two measurements with it differ by as much as speculation itself makes, the load decides
    nothing: something else changed meanwhile.
    """
    comparison = compare(off, (*first, *last))
    drifts = tuple(
        drift
        for level in comparison.levels
        if (drift := _drift(level, first, last)) is not None
    )
    if not drifts:
        return comparison, ()
    hidden = {drift.load for drift in drifts if drift.hides_the_effect}
    levels = [
        replace(level, verdict=Verdict.INCONCLUSIVE) if level.load in hidden else level
        for level in comparison.levels
    ]
    verdict, keep_up_to = overall(levels)
    if comparison.random_prompts:
        verdict, keep_up_to = Verdict.INCONCLUSIVE, None
    said = tuple(_sentence(drift) for drift in drifts)
    why = _without_limit(comparison)
    if keep_up_to is not None:
        why = (pays_up_to(keep_up_to), *why)
    judged = replace(
        comparison,
        levels=tuple(levels),
        verdict=verdict,
        keep_up_to=keep_up_to,
        why=(*said, *why) if hidden else (*why, *said),
    )
    return judged, drifts


def _without_limit(comparison: Comparison) -> tuple[Text, ...]:
    """The reasons without the one that says how far speculation pays, which drift may change."""
    if comparison.keep_up_to is None:
        return comparison.why
    limit = pays_up_to(comparison.keep_up_to)
    return tuple(one for one in comparison.why if one != limit)


def _drift(level: Level, first: Runs, last: Runs) -> Drift | None:
    change = ratio(
        _throughputs(at_load(first, level.load)),
        _throughputs(at_load(last, level.load)),
    )
    if change is None or not (change.above or change.below):
        return None
    size = abs(math.log(change.value))
    if size < math.log1p(WORTH_A_WORD):
        return None
    effect = abs(math.log(level.throughput.value)) if level.throughput else 0.0
    return Drift(load=level.load, change=change, hides_the_effect=size >= effect)


def _throughputs(runs: Runs) -> list[float]:
    return [
        run.output_tokens_per_s for run in runs if run.output_tokens_per_s is not None
    ]


def _sentence(drift: Drift) -> Text:
    concurrency = limit_text(drift.load[0])
    change = f"{drift.change.value:.2f}"
    if drift.hides_the_effect:
        return text(
            "At concurrency {concurrency}, output throughput with speculation was {change} times its first "
            "measurement the second time, as much as speculation makes: something else changed meanwhile. "
            "Measure the pair again when the hosts are quiet.",
            concurrency=concurrency,
            change=change,
        )
    return text(
        "At concurrency {concurrency}, output throughput with speculation was {change} times its first "
        "measurement the second time; the effect of speculation is larger.",
        concurrency=concurrency,
        change=change,
    )

"""Verdict: runs without and with speculation to what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.text import Text, listed, text
from deployments.telemetry.benchmarks.conditions import (
    differences,
    failures,
    random_tokens,
)
from deployments.telemetry.benchmarks.intervals import Ratio, ratio
from deployments.telemetry.benchmarks.loads import (
    Load,
    at_load,
    load_of,
    loads,
)
from deployments.telemetry.benchmarks.values import BenchmarkRun

ARRIVALS_DECIDE = 0.05
"""Within this share of a configured request rate, throughput is what arrived, not what can be."""

SHORT_RUN_S = 30.0
"""Shorter runs are mostly ramp-up: the first and last answers run with fewer neighbours."""

COLD_START = 10.0
"""A P99 of the time to first token this many times its median: some request met a cold server."""

Runs = Sequence[BenchmarkRun]


class Verdict(StrEnum):
    """What the measurement says about speculation."""

    KEEP = "keep"
    TURN_OFF = "turn-off"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One load, measured without and with speculation; ratios are with over without."""

    load: Load
    max_concurrency: int | None
    request_rate: float | str | None
    throughput: Ratio | None
    requests: Ratio | None
    tpot: Ratio | None
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The verdict on a pair; ratios are ``None`` when it must not be compared.

    With several loads the ratios are those of the lowest load that both arms have, and
    ``keep_up_to`` is the highest concurrency up to which every level says keep, when a higher
    one does not.
    """

    comparable: bool
    throughput_ratio: float | None
    request_throughput_ratio: float | None
    tpot_ratio: float | None
    verdict: Verdict
    why: tuple[Text, ...]
    levels: tuple[Level, ...] = ()
    keep_up_to: int | None = None
    random_prompts: bool = False


def compare(off: Runs, on: Runs) -> Comparison:
    """Judge runs with speculation against runs without, load by load.

    Several runs of one load are its repeated segments and give the confidence interval. Refuses
    runs that differ in anything but speculation and runs in which over 1 % of requests failed.
    """
    refusals = [*_wrong_arms(off, on), *failures([*off, *on])]
    common = [key for key in loads(off) if key in loads(on)]
    if not common:
        refusals.append(_no_common_load(off, on))
    arms = [(at_load(off, key), at_load(on, key)) for key in common]
    for before, after in arms:
        refusals += differences(before, after)
    if not refusals and not any(_measures(before, after) for before, after in arms):
        refusals.append(
            text(
                "Neither throughput nor time per output token stands in both results: paste the whole block."
            )
        )
    if refusals:
        return _refused(tuple(dict.fromkeys(refusals)))
    return _judged(off, on, [_level(before, after) for before, after in arms])


def _refused(why: tuple[Text, ...]) -> Comparison:
    return Comparison(
        comparable=False,
        throughput_ratio=None,
        request_throughput_ratio=None,
        tpot_ratio=None,
        verdict=Verdict.INCONCLUSIVE,
        why=why,
    )


def _judged(off: Runs, on: Runs, levels: list[Level]) -> Comparison:
    lowest = levels[0]
    verdict, keep_up_to = overall(levels)
    why = [_sentence(level) for level in levels]
    if keep_up_to is not None:
        why.insert(0, pays_up_to(keep_up_to))
    if random_tokens([*off, *on]):
        verdict, keep_up_to = Verdict.INCONCLUSIVE, None
        why.append(
            text(
                "The prompts were random tokens, which say nothing about the acceptance of real ones: repeat it with prompts that people send."
            )
        )
    return Comparison(
        comparable=True,
        throughput_ratio=_value(lowest.throughput),
        request_throughput_ratio=_value(lowest.requests),
        tpot_ratio=_value(lowest.tpot),
        verdict=verdict,
        why=(*why, *_remarks(off, on, levels)),
        levels=tuple(levels),
        keep_up_to=keep_up_to,
        random_prompts=random_tokens([*off, *on]),
    )


def pays_up_to(count: int) -> Text:
    """Say how far speculation pays, where it does not at every load."""
    return text(
        "Speculation pays up to {count} concurrent requests; above that it is not shown to.",
        count=count,
    )


def overall(levels: list[Level]) -> tuple[Verdict, int | None]:
    """The verdict on all loads, which ascend: keep as far as every one says so; and how far that is."""
    verdicts = {level.verdict for level in levels}
    if len(verdicts) == 1:
        return verdicts.pop(), None
    highest = None
    for level in levels:
        if level.verdict is not Verdict.KEEP:
            break
        highest = level.max_concurrency
    return (Verdict.KEEP if highest else Verdict.INCONCLUSIVE), highest


def _wrong_arms(off: Runs, on: Runs) -> list[Text]:
    first = [run for run in off if run.speculation]
    second = [run for run in on if run.speculation]
    if first and not second:
        return [
            text(
                "The first result has figures of speculation and the second has none: name the result without speculation first."
            )
        ]
    if first:
        return [
            text(
                "Both results have figures of speculation: a verdict needs one without it. Compare them side by side instead."
            )
        ]
    return []


def _no_common_load(off: Runs, on: Runs) -> Text:
    before, after = loads(off)[0], loads(on)[0]
    if before[0] != after[0]:
        return text(
            "The runs differ in more than speculation: concurrency is {before} in the first and {after} in the second.",
            before=limit_text(before[0]),
            after=limit_text(after[0]),
        )
    return text(
        "The runs differ in more than speculation: the request rate is {before} in the first and {after} in the second.",
        before=limit_text(before[1]),
        after=limit_text(after[1]),
    )


def limit_text(value: float | str | None) -> Text | str:
    """A load in words; ``None`` is not limited."""
    return text("not limited") if value is None else f"{value}"


def _known(runs: Runs, name: str) -> list[float]:
    return [value for run in runs if (value := getattr(run, name)) is not None]


def _ratio(off: Runs, on: Runs, name: str) -> Ratio | None:
    return ratio(_known(off, name), _known(on, name))


def _measures(off: Runs, on: Runs) -> bool:
    return any(
        _ratio(off, on, name) is not None
        for name in ("output_tokens_per_s", "mean_tpot_ms")
    )


def _level(off: Runs, on: Runs) -> Level:
    throughput = _ratio(off, on, "output_tokens_per_s")
    tpot = _ratio(off, on, "mean_tpot_ms")
    speed = tpot.inverse if tpot else None
    decisive = speed if throughput is None or _arrivals_decide(off, on) else throughput
    return Level(
        load=load_of(off[0]),
        max_concurrency=load_of(off[0])[0],
        request_rate=off[0].request_rate,
        throughput=throughput,
        requests=_ratio(off, on, "requests_per_s"),
        tpot=tpot,
        verdict=_verdict(decisive, speed),
    )


def _arrivals_decide(off: Runs, on: Runs) -> bool:
    return all(
        isinstance(run.request_rate, float)
        and run.requests_per_s is not None
        and run.requests_per_s >= (1 - ARRIVALS_DECIDE) * run.request_rate
        for run in (*off, *on)
    )


def _verdict(decisive: Ratio | None, speed: Ratio | None) -> Verdict:
    """What decides says so, unless the time per output token surely says the opposite."""
    if decisive is None:
        return Verdict.INCONCLUSIVE
    if decisive.above and not (speed and speed.below):
        return Verdict.KEEP
    if decisive.below and not (speed and speed.above):
        return Verdict.TURN_OFF
    return Verdict.INCONCLUSIVE


def _value(measured: Ratio | None) -> float | None:
    return measured.value if measured else None


def _sentence(level: Level) -> Text:
    concurrency = limit_text(level.max_concurrency)
    said = [
        text("output throughput {range}", range=_range(level.throughput))
        if level.throughput
        else None,
        text("time per output token {range}", range=_range(level.tpot))
        if level.tpot
        else None,
    ]
    return text(
        "At concurrency {concurrency}, times what it is without speculation: {measures}.",
        concurrency=concurrency,
        measures=listed([measure for measure in said if measure]),
    )


def _range(measured: Ratio) -> Text:
    value, low, high = (
        f"{number:.2f}" for number in (measured.value, measured.low, measured.high)
    )
    if measured.assumed:
        return Text(value)
    return text(
        "{value} (95 % interval {low} to {high})", value=value, low=low, high=high
    )


def _remarks(off: Runs, on: Runs, levels: list[Level]) -> list[Text]:
    """What to know about the measurement, and what to repeat when it decides nothing."""
    said: list[Text] = []
    for level in levels:
        speed = level.tpot.inverse if level.tpot else None
        if level.verdict is Verdict.INCONCLUSIVE and level.throughput and speed:
            if (level.throughput.above and speed.below) or (
                level.throughput.below and speed.above
            ):
                said.append(
                    text(
                        "Throughput and time per output token point in opposite directions: some request waited for something else. Repeat both with warm-up."
                    )
                )
            else:
                said.append(
                    text(
                        "The difference is not larger than the spread of the runs: repeat both, with more prompts, at least three times each."
                    )
                )
    if any(level.throughput and level.throughput.assumed for level in levels):
        said.append(
            text(
                "Nothing was repeated, so a spread of 5 % between runs is assumed; three runs of each give a real interval."
            )
        )
    if any((run.duration_s or SHORT_RUN_S) < SHORT_RUN_S for run in (*off, *on)):
        said.append(
            text(
                "A run is shorter than 30 s, much of it ramp-up: more prompts give a steadier figure."
            )
        )
    if any(_cold(run) for run in (*off, *on)):
        said.append(
            text(
                "In one run the slowest first tokens took over 10 times the median: it holds a cold start, so trust time per output token more than throughput."
            )
        )
    if not any(run.speculation for run in on):
        said.append(
            text(
                "The second result has no figures of speculation: vLLM before 0.14.0 prints none, nor does one behind a router. Check that it was on."
            )
        )
    return list(dict.fromkeys(said))


def _cold(run: BenchmarkRun) -> bool:
    slowest, middle = (
        run.percentiles.get("p99_ttft_ms"),
        run.percentiles.get("median_ttft_ms"),
    )
    return bool(slowest and middle and slowest > COLD_START * middle and slowest > 1000)

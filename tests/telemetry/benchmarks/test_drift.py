"""Pairs in turn: what changed between both measurements with speculation takes its part of the verdict."""

from deployments.telemetry.benchmarks.drift import judge_in_turn
from deployments.telemetry.benchmarks.values import BenchmarkRun
from deployments.telemetry.benchmarks.verdict import Comparison, Verdict
from tests.telemetry.benchmarks.blocks import block, runs


def arm(
    *throughputs: float, on: bool = False, load: int = 8
) -> tuple[BenchmarkRun, ...]:
    """Runs of one arm at one load."""
    return runs(
        *(
            block(
                throughput=one,
                tpot=10_000 / one,
                speculation=on,
                concurrency=load,
            )
            for one in throughputs
        )
    )


def said(comparison: Comparison) -> str:
    return " ".join(comparison.why)


OFF = arm(1000.0, 1004.0, 996.0)


def test_the_same_both_times_keeps_the_verdict() -> None:
    comparison, drifts = judge_in_turn(
        OFF, arm(1500.0, 1510.0, on=True), arm(1505.0, 1495.0, on=True)
    )
    assert drifts == ()
    assert comparison.verdict is Verdict.KEEP


def test_a_small_drift_is_told_and_the_verdict_stands() -> None:
    comparison, (drift,) = judge_in_turn(
        OFF, arm(1500.0, 1501.0, on=True), arm(1560.0, 1561.0, on=True)
    )
    assert not drift.hides_the_effect
    assert comparison.verdict is Verdict.KEEP
    assert "the effect of speculation is larger" in said(comparison)


def test_a_drift_as_large_as_the_effect_decides_nothing() -> None:
    comparison, (drift,) = judge_in_turn(
        OFF, arm(1100.0, 1101.0, on=True), arm(1400.0, 1401.0, on=True)
    )
    assert drift.hides_the_effect
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.why[0].startswith("At concurrency 8, output throughput with")
    assert "something else changed meanwhile" in comparison.why[0]


def test_drift_at_one_load_leaves_the_verdict_on_the_lower_one() -> None:
    off = OFF + arm(4000.0, 4010.0, 3990.0, load=32)
    first = arm(1500.0, 1501.0, on=True) + arm(4100.0, 4101.0, on=True, load=32)
    last = arm(1500.0, 1502.0, on=True) + arm(5200.0, 5201.0, on=True, load=32)
    comparison, drifts = judge_in_turn(off, first, last)
    assert [one.load[0] for one in drifts] == [32]
    assert (comparison.verdict, comparison.keep_up_to) == (Verdict.KEEP, 8)
    assert sum("pays up to" in one for one in comparison.why) == 1


def test_arms_that_differ_are_refused_without_a_word_of_drift() -> None:
    other = runs(block(speculation=True, input_tokens=99_999))
    comparison, drifts = judge_in_turn(OFF, other, other)
    assert not comparison.comparable
    assert drifts == ()

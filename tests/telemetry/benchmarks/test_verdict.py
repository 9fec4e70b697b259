"""Verdicts: what may be compared, and how sure the answer is."""

from pathlib import Path

import pytest

from deployments.telemetry.benchmarks.intervals import quantile, ratio
from deployments.telemetry.benchmarks.reader import read_benchmark
from deployments.telemetry.benchmarks.verdict import Comparison, Verdict, compare
from tests.telemetry.benchmarks.blocks import block, runs

RECORDED = Path(__file__).parents[1] / "fixtures" / "benchmarks"


def judged(off: list[str], on: list[str]) -> Comparison:
    return compare(runs(*off), runs(*on))


def said(comparison: Comparison) -> str:
    return " ".join(comparison.why)


@pytest.mark.parametrize(
    ("off", "on", "throughput", "tpot", "verdict"),
    [
        ("baseline", "suffix", 1.276, 0.603, "keep"),
        ("baseline", "ngram", 1.431, 0.619, "keep"),
        ("baseline", "draft_model", 1.091, 0.802, "keep"),
        ("baseline", "eagle3", 0.483, 1.723, "turn-off"),
        ("mtp_baseline", "mtp", 0.878, 1.741, "turn-off"),
    ],
)
def test_recorded_pairs(
    off: str, on: str, throughput: float, tpot: float, verdict: str
) -> None:
    first, second = (
        read_benchmark((RECORDED / f"{name}.json").read_bytes()) for name in (off, on)
    )
    comparison = compare(first, second)
    assert comparison.comparable
    assert comparison.throughput_ratio == pytest.approx(throughput, abs=0.001)
    assert comparison.request_throughput_ratio == pytest.approx(throughput, abs=0.001)
    assert comparison.tpot_ratio == pytest.approx(tpot, abs=0.001)
    assert comparison.verdict == verdict


def test_random_tokens_decide_nothing() -> None:
    first, second = (
        read_benchmark((RECORDED / f"{name}.txt").read_bytes())
        for name in ("baseline", "suffix")
    )
    comparison = compare(first, second)
    assert comparison.comparable
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert "random tokens" in said(comparison)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"concurrency": 16}, "concurrency is 8 in the first and 16 in the second"),
        ({"concurrency": None}, "concurrency is 8 in the first and not limited"),
        ({"rate": 5.0}, "request rate is not limited in the first and 5"),
        (
            {"completed": 100, "input_tokens": 25_600, "generated": 51_200},
            "number of prompts",
        ),
        ({"input_tokens": 60_000}, "mean input length is 256 in the first and 300"),
        ({"generated": 51_200}, "mean output length is 512 in the first and 256"),
        ({"failed": 3, "completed": 197}, "3 of 200 requests failed"),
    ],
)
def test_arms_that_differ_are_refused(change: dict[str, int], reason: str) -> None:
    comparison = judged([block()], [block(speculation=True, **change)])
    assert not comparison.comparable
    assert comparison.throughput_ratio is None
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert reason in said(comparison)


def test_another_model_or_dataset_is_refused_and_a_path_of_the_same_is_not() -> None:
    named = "Namespace(model='{}', dataset_name='sharegpt', seed=0, num_prompts=200)\n"
    off, same = named.format("/models/qwen3-8b"), named.format("Qwen3-8B")
    other = named.format("qwen3-14b").replace("sharegpt", "custom")
    assert judged([off + block()], [same + block(speculation=True)]).comparable
    refused = judged([off + block()], [other + block(speculation=True)])
    assert "model is /models/qwen3-8b" in said(refused)
    assert "dataset_name is sharegpt in the first and custom" in said(refused)


def test_arms_in_the_wrong_order_and_two_that_speculate_are_refused() -> None:
    swapped = judged([block(speculation=True)], [block()])
    assert "name the result without speculation first" in said(swapped)
    both = judged([block(speculation=True)], [block(speculation=True)])
    assert "needs one without it" in said(both)


def test_results_without_speeds_are_refused() -> None:
    comparison = judged(["Total input tokens: 5"], ["Total input tokens: 5"])
    assert not comparison.comparable
    assert "paste the whole block" in said(comparison)


@pytest.mark.parametrize(
    ("throughput", "tpot", "verdict"),
    [
        (1300.0, 7.0, Verdict.KEEP),
        (700.0, 14.0, Verdict.TURN_OFF),
        (1030.0, 9.9, Verdict.INCONCLUSIVE),
        (1300.0, 14.0, Verdict.INCONCLUSIVE),
        (700.0, 7.0, Verdict.INCONCLUSIVE),
    ],
)
def test_single_runs_need_more_than_the_assumed_spread(
    throughput: float, tpot: float, verdict: Verdict
) -> None:
    comparison = judged(
        [block()], [block(throughput=throughput, tpot=tpot, speculation=True)]
    )
    assert comparison.verdict is verdict
    assert "a spread of 5 % between runs is assumed" in said(comparison)


def test_high_acceptance_does_not_make_a_slower_server_worth_it() -> None:
    comparison = judged(
        [block(throughput=2993.85, tpot=36.1)],
        [block(throughput=1632.46, tpot=81.17, speculation=True)],
    )
    assert comparison.verdict is Verdict.TURN_OFF
    assert comparison.throughput_ratio == pytest.approx(0.5453, abs=0.0001)


def test_repeated_runs_give_the_interval_and_noise_beyond_the_effect_decides_nothing() -> (
    None
):
    on = [
        block(throughput=value, tpot=9.2, speculation=True)
        for value in (1085, 1095, 1090)
    ]
    steady = judged([block(throughput=value) for value in (1000, 1005, 995)], on)
    assert steady.verdict is Verdict.KEEP
    assert "95 % interval" in said(steady)
    noisy = judged([block(throughput=value) for value in (1000, 1300, 800)], on)
    assert noisy.verdict is Verdict.INCONCLUSIVE
    assert "not larger than the spread" in said(noisy)


def test_the_verdict_says_up_to_which_load() -> None:
    loads = {1: 1.6, 8: 1.3, 64: 0.8}
    off = [block(concurrency=load) for load in loads]
    on = [
        block(
            concurrency=load, throughput=1000 * gain, tpot=10 / gain, speculation=True
        )
        for load, gain in loads.items()
    ]
    comparison = judged(off, on)
    assert (comparison.verdict, comparison.keep_up_to) == (Verdict.KEEP, 8)
    assert [level.verdict.value for level in comparison.levels] == [
        "keep",
        "keep",
        "turn-off",
    ]
    assert comparison.why[0].startswith("Speculation pays up to 8 concurrent requests")
    assert comparison.throughput_ratio == pytest.approx(1.6)


def test_where_arrivals_set_the_throughput_the_time_per_token_decides() -> None:
    off = block(rate=1.95, throughput=1000)
    on = block(rate=1.95, throughput=1001, tpot=6, speculation=True)
    assert judged([off], [on]).verdict is Verdict.KEEP


def test_a_second_arm_without_figures_of_speculation_is_told() -> None:
    comparison = judged([block()], [block(throughput=1300, tpot=7)])
    assert comparison.comparable
    assert "Check that it was on" in said(comparison)


def test_cold_starts_and_short_runs_are_told() -> None:
    cold = block(duration=19.2).replace(f"{300.0}", "5993.71")
    comparison = judged([cold], [block(throughput=1300, tpot=7, speculation=True)])
    assert "holds a cold start" in said(comparison)
    assert "shorter than 30 s" in said(comparison)


def test_intervals() -> None:
    one_sided = ratio([100, 102, 98], [150])
    assert one_sided is not None
    assert not one_sided.assumed
    assert one_sided.low < 1.5 < one_sided.high
    # Standard error 2 % x sqrt(1/3 + 1), two degrees of freedom: 4.303.
    assert one_sided.high / one_sided.value == pytest.approx(1.104, abs=0.005)
    same = ratio([100, 100], [150, 150])
    assert same is not None
    assert same.low == same.high == pytest.approx(1.5)
    assert ratio([], [1]) is None
    assert ratio([0], [1]) is None
    assert (quantile(0), quantile(1), quantile(30), quantile(31)) == (
        12.706,
        12.706,
        2.042,
        1.96,
    )
    inverse = one_sided.inverse
    assert inverse.low < inverse.value < inverse.high < 1

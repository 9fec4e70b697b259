"""The answer about speed: curve, best count, break-even, band, source, and what nobody measured."""

import time
from dataclasses import replace

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.speedup.accelerators import (
    find_accelerator,
    usual_accelerator,
)
from deployments.planning.speedup.acceptance import (
    Origin,
    from_mean_length,
    from_rate,
)
from deployments.planning.speedup.answer import prediction_answer
from deployments.planning.speedup.calibration import (
    Calibration,
    Observation,
    calibrate,
)
from deployments.planning.speedup.constants import shipped_constants
from deployments.planning.speedup.cost import Case, case_of
from deployments.planning.speedup.drafting import drafting_of
from deployments.planning.speedup.prediction import Question, predict
from deployments.planning.speedup.priors import assumed_acceptance
from deployments.planning.speedup.shape import shape_of_name
from deployments.planning.speedup.step_time import Serving

GIVEN = Origin(kind="given", source="a test")


def serving(
    device: str = "H100", devices: int = 1, quantisation: str = "bf16"
) -> Serving:
    return Serving(
        accelerator=find_accelerator(device), devices=devices, quantisation=quantisation
    )


LARGE = serving("H200", 8, "fp8")


def question(
    name: str = "Llama-3.1-8B-Instruct",
    *,
    on: Serving | None = None,
    method: Method = Method.EAGLE3,
    accepted: tuple[float, int] = (0.6, 3),
    concurrency: tuple[int, ...] = (1, 8, 64),
) -> Question:
    """Ask about a rate of acceptance logged with a count of tokens."""
    shape = shape_of_name(name)
    assert shape is not None
    rate, count = accepted
    return Question(
        shape=shape,
        serving=on or serving(),
        method=method,
        acceptance=from_rate(rate, count, method=method, origin=GIVEN),
        num_speculative_tokens=count,
        concurrency=concurrency,
    )


def case(asked: Question) -> Case:
    found = case_of(
        asked.shape, asked.serving, drafting_of(asked.method), shipped_constants()
    )
    assert found is not None
    return found


def test_one_token_of_mtp_is_a_gain_where_the_rule_of_thumb_says_slower() -> None:
    found = predict(question(method=Method.MTP, accepted=(0.85, 1)))
    assert found.expected_tokens_per_step == pytest.approx(1.85)
    assert found.seed_formula is not None
    assert found.seed_formula < 1
    assert found.curve[0].speedup is not None
    assert found.curve[0].speedup > 1.3


def test_the_gain_of_a_dense_model_falls_with_load() -> None:
    found = predict(question(concurrency=(1, 4, 16, 64)))
    values = [point.speedup or 0 for point in found.curve]
    assert values == sorted(values, reverse=True)


def test_a_mixture_dips_while_its_experts_fill_and_then_recovers() -> None:
    found = predict(
        question("Qwen3-30B-A3B", on=serving("H200"), concurrency=(1, 4, 64))
    )
    one, few, many = (point.speedup or 0 for point in found.curve)
    assert few < one
    assert few < many


def test_the_best_count_shrinks_with_acceptance_and_load() -> None:
    strong = predict(question(accepted=(0.8, 3), concurrency=(1,)))
    weak = predict(question(accepted=(0.25, 3), concurrency=(1,)))
    loaded = predict(question(accepted=(0.25, 3), concurrency=(512,)))
    best = [one.best_num_speculative_tokens or 0 for one in (strong, weak, loaded)]
    assert best[0] > best[1] > best[2]
    assert best[2] == 0


def test_ascend_never_asks_for_more_than_its_kernel_takes() -> None:
    asked = question(method=Method.DFLASH, accepted=(0.99, 15), on=serving("910C die"))
    assert (predict(asked).best_num_speculative_tokens or 0) <= 15


def test_break_even_is_a_range_around_the_turn_of_the_curve() -> None:
    asked = question(on=serving("A100"), accepted=(0.25, 3))
    turning = predict(asked).break_even
    assert turning.concurrency is not None
    assert turning.low is not None
    assert turning.low < turning.concurrency
    assert turning.high is None or turning.high > turning.concurrency
    around = predict(
        replace(asked, concurrency=(turning.concurrency, 2 * turning.concurrency))
    )
    before, after = (point.speedup or 0 for point in around.curve)
    assert before >= 1 > after


def test_hopeless_acceptance_never_pays() -> None:
    found = predict(question(accepted=(0.02, 3)))
    assert found.break_even.concurrency == 0
    assert found.best_num_speculative_tokens == 0
    assert "not expected to pay" in found.sentence


def test_no_band_is_claimed_where_nobody_measured() -> None:
    found = predict(question(concurrency=(64, 128)))
    assert found.curve[0].low is not None
    assert (found.curve[1].low, found.curve[1].high) == (None, None)
    assert any("64 concurrent" in text for text in found.warnings)


def test_large_mixtures_are_covered_at_low_load_only() -> None:
    found = predict(
        question(
            "DeepSeek-V3",
            on=LARGE,
            method=Method.MTP,
            concurrency=(8, 64),
        )
    )
    assert found.measured_up_to == 16
    assert found.curve[0].low is not None
    assert found.curve[1].low is None
    assert any("mixture-of-experts" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("method", "device"),
    [(Method.MTP, "910C die"), (Method.DRAFT_MODEL, "H100"), (Method.NGRAM, "H100")],
)
def test_cases_like_no_measurement_are_estimates(method: Method, device: str) -> None:
    found = predict(question(method=method, on=serving(device)))
    assert found.measured_up_to == 0
    assert found.curve[0].speedup is not None
    assert found.curve[0].low is None
    assert found.warnings


def test_a_device_without_figures_leaves_the_speed_unknown() -> None:
    asked = question()
    bare = replace(asked.serving, accelerator=usual_accelerator("ascend-310p"))
    found = predict(replace(asked, serving=bare))
    assert found.expected_tokens_per_step > 1
    assert {point.speedup for point in found.curve} == {None}
    assert found.seed_formula is None
    assert found.best_num_speculative_tokens is None
    assert found.break_even.concurrency is None
    assert "No speed is predicted" in found.sentence


def test_every_answer_says_where_it_comes_from() -> None:
    published = predict(question())
    assert published.kind == "published"
    assert "other hardware" in published.source
    acceptance = assumed_acceptance(Method.EAGLE3)
    assumed = predict(replace(question(), acceptance=acceptance))
    assert assumed.kind == "assumed"
    assert "assumed" in assumed.source


def test_one_pair_of_benchmarks_moves_the_curve_to_itself() -> None:
    asked = question()
    observation = Observation(
        concurrency=8,
        num_speculative_tokens=3,
        baseline_tpot_ms=10.0,
        speculative_tpot_ms=6.0,
        mean_acceptance_length=2.8,
        source="benchmark of 4 May",
    )
    told = from_mean_length(2.8, 3, method=Method.EAGLE3, origin=GIVEN)
    asked = replace(
        asked, acceptance=told, calibration=calibrate(case(asked), observation)
    )
    found = predict(asked)
    assert found.curve[1].speedup == pytest.approx(10 / 6)
    assert found.kind == "measured"
    assert "benchmark of 4 May" in found.source
    assert found.band.ninety < predict(question()).band.ninety


@pytest.mark.parametrize(
    ("off", "length", "word"), [(0.0, 2.0, "above 0 ms"), (9.0, 5.0, "bonus token")]
)
def test_impossible_measurements_are_refused(
    off: float, length: float, word: str
) -> None:
    observation = Observation(
        concurrency=1,
        num_speculative_tokens=3,
        baseline_tpot_ms=off,
        speculative_tpot_ms=5.0,
        mean_acceptance_length=length,
        source="a test",
    )
    with pytest.raises(PlanningError, match=word):
        calibrate(case(question()), observation)


def test_a_calibrated_deployment_has_a_band_as_far_as_it_was_measured() -> None:
    asked = replace(
        question(concurrency=(128, 256)),
        calibration=Calibration(factor=0.9, source="a test", concurrency=128),
    )
    found = predict(asked)
    assert [point.low is None for point in found.curve] == [False, True]
    assert found.measured_up_to == 128


def test_the_answer_is_json_with_the_promised_keys() -> None:
    answer = prediction_answer(predict(question()))
    assert {
        "expected_tokens_per_step",
        "seed_formula",
        "curve",
        "best_num_speculative_tokens",
        "break_even_concurrency",
    } <= set(answer)
    curve = answer["curve"]
    assert isinstance(curve, list)
    assert isinstance(curve[0], dict)
    assert curve[0]["bound"] == "memory"


def test_a_prediction_takes_less_than_five_milliseconds() -> None:
    asked = question("DeepSeek-V3", on=LARGE)
    times = []
    for _ in range(20):
        predict.cache_clear()
        start = time.process_time()
        predict(asked)
        times.append(time.process_time() - start)
    assert min(times) < 0.005

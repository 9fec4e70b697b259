"""What was measured on a deployment corrects its next plan, and stands in the plan's digest."""

import random
from dataclasses import replace

import pytest

from deployments.planning.canonical import canonical_json
from deployments.planning.measured import Measured
from deployments.planning.plan import Gain, Plan, plan_from_document
from deployments.planning.planner import make_plan
from deployments.planning.revision import SpeculationChoice, Workload
from deployments.planning.snapshot import ClusterSettings
from tests.planning.builders import combined, gpu, shipped

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
PAIR = Measured(
    deployment="chat",
    day="2026-11-27",
    model=LLAMA,
    method="eagle3",
    num_speculative_tokens=3,
    mean_acceptance_length=2500,
    concurrency=16,
    speedup=1300,
)
SEEN = replace(
    PAIR, day="2026-11-28", mean_acceptance_length=2300, concurrency=None, speedup=None
)


def planned(*measured: Measured, method: str = "eagle3", count: int = 3) -> Plan:
    spec = combined(
        LLAMA,
        "gpu-1",
        speculation=SpeculationChoice(method=method, num_speculative_tokens=count),
        workload=Workload(concurrency=16),
    )
    return make_plan(
        spec, shipped(LLAMA), [gpu()], ClusterSettings(), measured=measured
    )


def gain(plan: Plan) -> Gain:
    assert plan.gain is not None
    return plan.gain


def speedup(plan: Plan, concurrency: int = 16) -> int:
    point = gain(plan).at(concurrency)
    assert point is not None
    assert point.speedup is not None
    return point.speedup


def test_a_pair_is_met_where_it_was_measured_and_scales_the_rest() -> None:
    made, before = planned(PAIR), planned()
    same = replace(PAIR, speedup=speedup(before), mean_acceptance_length=2650)

    assert speedup(made) == pytest.approx(1300, abs=1)
    assert gain(made).tokens_per_step == 2500
    # A pair that agrees with the prediction changes no other point of it.
    assert speedup(planned(same), 1) == pytest.approx(speedup(before, 1), rel=0.01)


def test_the_evidence_names_the_deployment_and_the_day() -> None:
    found = gain(planned(PAIR))

    assert found.kind == "measured"
    assert found.source == (
        "Time: measured here (chat, 2026-11-27). Acceptance: measured, chat, 2026-11-27."
    )
    assert found.measured == (PAIR,)


def test_acceptance_alone_leaves_the_time_published() -> None:
    found = gain(planned(SEEN))

    assert (found.kind, found.tokens_per_step) == ("published", 2300)
    assert "Acceptance: measured, chat, 2026-11-28" in found.source


def test_the_newest_acceptance_counts_and_the_pair_still_corrects() -> None:
    found = gain(planned(PAIR, SEEN))

    assert found.tokens_per_step == 2300
    assert found.kind == "measured"
    assert set(found.measured) == {PAIR, SEEN}


def test_another_count_goes_on_from_what_was_seen() -> None:
    assert 2500 < gain(planned(PAIR, count=5)).tokens_per_step < 3500


def test_other_methods_and_models_are_not_corrected() -> None:
    assert planned(PAIR, method="ngram") == planned(method="ngram")
    assert planned(replace(PAIR, model="other/model")) == planned()


def test_an_acceptance_that_cannot_be_is_passed_over() -> None:
    assert planned(replace(PAIR, mean_acceptance_length=4500)) == planned()


def test_the_band_reaches_as_far_as_somebody_measured() -> None:
    far = gain(planned(replace(PAIR, concurrency=128)))
    assert far.measured_up_to == 128
    assert gain(planned(PAIR)).measured_up_to == 64


def test_of_several_loads_the_nearest_of_the_newest_day_corrects() -> None:
    near = replace(PAIR, concurrency=8, speedup=1500)
    older = replace(PAIR, day="2026-11-01", speedup=900)
    found = gain(planned(older, replace(near, concurrency=64), near))

    assert near in found.measured
    assert older not in found.measured


def test_the_measurement_is_in_the_digest_in_any_order() -> None:
    measured = [PAIR, SEEN, replace(PAIR, concurrency=64, speedup=1100)]
    shuffle = random.Random(7)  # noqa: S311 - orders, not secrets
    digests = {
        planned(*shuffle.sample(measured, len(measured))).digest for _run in range(6)
    }

    assert len(digests) == 1
    changed = planned(replace(PAIR, speedup=1310), *measured[1:]).digest
    assert digests != {changed}
    assert planned().digest not in digests


def test_a_plan_with_measurements_is_stored_and_read_back() -> None:
    made = planned(PAIR)

    assert plan_from_document(made.document) == made
    assert b"speedup" in canonical_json(made.document)
    assert '"measured"' not in canonical_json(planned().document).decode()

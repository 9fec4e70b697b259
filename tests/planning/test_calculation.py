"""The calculator's arithmetic: the plan's own sizing, and acceptance as somebody measured it."""

import pytest

from deployments.planning.calculation import GivenAcceptance, Inquiry, calculate
from deployments.planning.catalog import find_target_model
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.revision import Workload
from deployments.services.catalog import shipped_documents

DOCUMENTS = list(shipped_documents())


def inquiry(  # noqa: PLR0913 - tests name what they care about
    model: str = "Qwen/Qwen3-8B",
    *,
    platform: str = "nvidia",
    device: str | None = "H100",
    devices: int = 1,
    method: Method = Method.EAGLE3,
    count: int | None = 3,
    concurrency: int = 16,
    acceptance: GivenAcceptance | None = None,
    checkpoint: str | None = None,
    data_parallel_size: int | None = None,
) -> Inquiry:
    return Inquiry(
        model=find_target_model(DOCUMENTS, model),
        platform=platform,
        device=device,
        devices=devices,
        method=method,
        num_speculative_tokens=count,
        workload=Workload(
            input_tokens=1000, output_tokens=400, concurrency=concurrency
        ),
        acceptance=acceptance or GivenAcceptance(),
        checkpoint=checkpoint,
        data_parallel_size=data_parallel_size,
    )


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        (GivenAcceptance(rate=0.6), 2.8),
        (GivenAcceptance(mean_length=2.5), 2.5),
        (GivenAcceptance(positions=(0.8, 0.6, 0.4)), 2.8),
    ],
)
def test_given_acceptance_decides_the_tokens_of_a_step(
    given: GivenAcceptance, tokens: float
) -> None:
    found = calculate(inquiry(acceptance=given)).prediction

    assert found is not None
    assert found.expected_tokens_per_step == pytest.approx(tokens, abs=0.01)
    assert found.kind == "published"


def test_impossible_acceptance_is_refused() -> None:
    with pytest.raises(PlanningError, match="lies between 1 and 4"):
        calculate(inquiry(acceptance=GivenAcceptance(mean_length=5)))


def test_without_acceptance_the_usual_one_is_assumed() -> None:
    found = calculate(inquiry()).prediction

    assert found is not None
    assert found.kind == "assumed"


def test_the_best_count_is_one_of_the_listed_benefits() -> None:
    found = calculate(inquiry(concurrency=24))

    assert found.prediction is not None
    here = next(one for one in found.prediction.curve if one.concurrency == 24)
    best = max(found.counts, key=lambda one: one.speedup or 0)
    assert best.count == here.best_num_speculative_tokens
    chosen = next(one for one in found.counts if one.count == 3)
    assert chosen.speedup == here.speedup


def test_memory_is_that_of_the_plan_drafter_included() -> None:
    found = calculate(inquiry())

    assert found.memory is not None
    assert found.memory.fits is True
    assert (found.memory.size_of("drafter") or 0) > 500 << 20
    assert found.plan is not None
    assert found.plan.memory == (found.memory,)


def test_a_method_that_the_planner_would_close_is_calculated_and_said() -> None:
    found = calculate(inquiry(method=Method.MEDUSA))

    assert found.closed == "The catalog binds no Medusa heads to Qwen3-8B."
    assert found.prediction is not None


def test_kimi_w8a8_on_one_a3_does_not_fit_and_two_hosts_or_w4a8_are_proposed() -> None:
    found = calculate(
        inquiry(
            "moonshotai/Kimi-K2.6",
            platform="ascend-a3",
            device="910C die",
            devices=16,
            checkpoint="w8a8",
        )
    )

    assert found.memory is not None
    assert found.memory.fits is False
    proposed = " ".join(found.memory.proposals)
    assert "2 hosts" in proposed
    assert "w4a8" in proposed


def test_devices_that_do_not_spread_over_hosts_leave_the_speed_answered() -> None:
    found = calculate(inquiry(devices=9))

    assert found.memory is None
    assert "do not spread evenly over 2 hosts" in str(found.memory_refusal)
    assert found.prediction is not None


def test_data_parallel_ranks_are_taken_as_given() -> None:
    found = calculate(
        inquiry(
            "deepseek-ai/DeepSeek-V3.2",
            device="H200",
            devices=8,
            data_parallel_size=8,
            method=Method.MTP,
            count=1,
        )
    )

    assert (found.devices, found.data_parallel_size) == (8, 8)


def test_without_figures_of_the_device_only_tokens_are_known() -> None:
    found = calculate(inquiry(platform="cpu", device=None)).prediction

    assert found is not None
    assert {one.speedup for one in found.curve} == {None}
    assert found.expected_tokens_per_step > 2

"""The arms of a pair: the panel's own baseline differs in speculation alone, and anything else is named."""

from dataclasses import replace

import pytest

from deployments.planning.bench.arms import (
    arm_differences,
    with_limits_of,
    without_speculation,
)
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan
from deployments.planning.revision import Limits, RevisionSpec, SpeculationChoice
from tests.planning.builders import a3, apart, combined, decode, gpu, plan, prefill

SPECS = {
    "eagle3": (combined("meta-llama/Llama-3.1-8B-Instruct", "gpu-1"), (gpu(),)),
    "mtp": (combined("deepseek-ai/DeepSeek-V4-Flash", "a3-01"), (a3("a3-01"),)),
    "apart": (
        apart(
            "zai-org/GLM-5.2",
            prefill("a3-01", num_speculative_tokens=1),
            decode("a3-02", num_speculative_tokens=3),
            checkpoint="w8a8",
            engine="vllm-ascend==0.23.0",
            limits=Limits(max_model_len=32768),
        ),
        (a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2")),
    ),
}


def arms(name: str, **changed: object) -> tuple[Plan, Plan]:
    """A plan, and the one of its baseline with something else changed."""
    spec, hosts = SPECS[name]
    off = replace(without_speculation(spec), **changed)  # type: ignore[arg-type]
    return plan(spec, *hosts), plan(off, *hosts)


@pytest.mark.parametrize("name", SPECS)
def test_the_baseline_differs_in_speculation_alone(name: str) -> None:
    on, off = arms(name)
    assert on.decision.method != "off"
    assert off.decision.method == "off"
    assert arm_differences(on, off) == ()


def test_a_limit_that_differs_is_named_with_both_values() -> None:
    (said,) = arm_differences(*arms("eagle3", limits=Limits(max_num_seqs=7)))
    assert "--max-num-seqs" in str(said)
    assert str(said).endswith(" and 7 without.")


def test_limits_that_the_planner_chose_are_taken_over_where_all_share_them() -> None:
    spec, hosts = SPECS["eagle3"]
    on = plan(replace(spec, limits=Limits(max_model_len=8192, max_num_seqs=24)), *hosts)
    off = with_limits_of(without_speculation(spec), on)
    assert (off.limits.max_model_len, off.limits.max_num_seqs) == (8192, 24)
    assert arm_differences(on, plan(off, *hosts)) == ()
    kept = replace(spec, limits=Limits(max_num_seqs=7))
    assert with_limits_of(kept, on).limits.max_num_seqs == 7


def test_a_context_that_memory_cut_is_one_of_both_roles_and_of_both_arms() -> None:
    """What decode cannot hold, prefill does not take; without a drafter the planner would cut elsewhere."""
    spec, hosts = SPECS["apart"]
    spec = replace(spec, limits=Limits())
    on = plan(spec, *hosts)
    cut = {one.max_model_len for one in on.memory}
    assert len(cut) == 1
    off = without_speculation(spec)
    assert arm_differences(on, plan(off, *hosts)) != ()
    off = with_limits_of(off, on)
    assert {off.limits.max_model_len} == cut
    assert arm_differences(on, plan(off, *hosts)) == ()


def test_an_environment_that_differs_is_named() -> None:
    (said,) = arm_differences(*arms("mtp", environment=(("HCCL_BUFFSIZE", "77"),)))
    assert "HCCL_BUFFSIZE" in str(said)


def test_other_replicas_or_another_model_are_no_pair() -> None:
    on, _off = arms("eagle3")
    _on, apart_off = arms("apart")
    (said,) = arm_differences(on, apart_off)
    assert str(said).startswith("The arms differ in more than speculation: model is")


def test_what_is_off_already_has_no_baseline() -> None:
    spec: RevisionSpec = replace(
        SPECS["eagle3"][0], speculation=SpeculationChoice(method="off")
    )
    with pytest.raises(PlanningError, match="off here already"):
        without_speculation(spec)

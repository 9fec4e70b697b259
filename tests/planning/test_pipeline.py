"""Pipeline stages: devices, memory, the command, and the methods that do not go with them."""

import pytest

from deployments.planning.engines.arguments import flag_values
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role, RoleMemory, Severity
from deployments.planning.revision import RoleSpec, SpeculationChoice
from tests.planning.builders import a3, apart, combined, decode, gpu, plan, prefill

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def _staged(
    stages: int | None,
    method: str = "off",
    engine: str = "vllm==0.32.0",
    devices_per_host: int | None = None,
) -> Plan:
    spec = combined(
        LLAMA,
        "gpu-1",
        engine=engine,
        speculation=SpeculationChoice(method=method),
        role=RoleSpec(
            role=Role.COMBINED,
            hosts=("gpu-1",),
            pipeline_parallel_size=stages,
            tensor_parallel_size=2,
            devices_per_host=devices_per_host,
        ),
    )
    return plan(spec, gpu())


def _codes(made: Plan) -> dict[str, Severity]:
    return {one.code: one.severity for one in made.findings}


def _memory(made: Plan) -> RoleMemory:
    return made.memory[0]


def test_stages_take_devices_and_stand_in_the_command() -> None:
    made = _staged(2)
    flags = flag_values(made.replicas[0].container.command)
    assert flags["--pipeline-parallel-size"] == "2"
    assert flags["--tensor-parallel-size"] == "2"
    assert len(made.replicas[0].devices) == 4
    assert made.can_submit


def test_one_stage_says_nothing() -> None:
    one, none = _staged(1), _staged(None)
    command = one.replicas[0].container.command
    assert "--pipeline-parallel-size" not in command
    assert command == none.replicas[0].container.command


def test_each_stage_holds_its_share_of_weights_and_cache() -> None:
    whole, half = _memory(_staged(1)), _memory(_staged(2))
    before, after = whole.size_of("weights"), half.size_of("weights")
    assert before is not None
    assert after is not None
    assert after == pytest.approx(before / 2, rel=0.01)
    assert whole.kv_bytes_per_token == 2 * (half.kv_bytes_per_token or 0)


def test_devices_that_do_not_divide_into_stages_are_refused() -> None:
    with pytest.raises(PlanningError, match="3 pipeline stages do not divide"):
        _staged(3, devices_per_host=4)


def test_too_few_devices_for_the_stages_is_a_shortage() -> None:
    assert "DEVICES_INSUFFICIENT" in _codes(_staged(8))


@pytest.mark.parametrize(
    ("method", "engine", "refused"),
    [
        ("ngram", "vllm==0.15.0", True),
        ("ngram", "vllm==0.16.0", False),
        ("eagle3", "vllm==0.28.0", True),
        ("eagle3", "vllm==0.30.0", False),
        ("off", "vllm==0.15.0", False),
    ],
)
def test_drafting_goes_with_stages_only_where_the_release_can(
    method: str, engine: str, *, refused: bool
) -> None:
    codes = _codes(_staged(2, method, engine))
    assert ("PIPELINE_WITH_DRAFTING" in codes) is refused


def test_mtp_never_goes_with_stages() -> None:
    spec = combined(
        "deepseek-ai/DeepSeek-V4-Flash",
        "gpu-1",
        engine="vllm==0.33.0",
        speculation=SpeculationChoice(method="mtp"),
        role=RoleSpec(role=Role.COMBINED, hosts=("gpu-1",), pipeline_parallel_size=2),
    )
    assert _codes(plan(spec, gpu()))["PIPELINE_WITH_DRAFTING"] is Severity.ERROR


def test_on_ascend_only_prefill_may_have_stages_and_both_sides_know() -> None:
    spec = apart(
        "zai-org/GLM-5.2",
        prefill("a3-01", pipeline_parallel_size=2),
        decode("a3-02"),
        checkpoint="w8a8",
        speculation=SpeculationChoice(method="off"),
    )
    made = plan(spec, a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2"))
    assert "PIPELINE_ON_DECODE" not in _codes(made)
    for replica in made.replicas[:-1]:
        transfer = flag_values(replica.container.command)["--kv-transfer-config"]
        assert '"pp_size":2' in (transfer or "")
    swapped = apart(
        "zai-org/GLM-5.2",
        prefill("a3-01"),
        decode("a3-02", pipeline_parallel_size=2),
        checkpoint="w8a8",
        speculation=SpeculationChoice(method="off"),
    )
    made = plan(swapped, a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2"))
    assert _codes(made)["PIPELINE_ON_DECODE"] is Severity.ERROR

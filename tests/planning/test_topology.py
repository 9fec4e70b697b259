"""Ranks over hosts: documented layouts, a person's sizes, derived ones."""

from dataclasses import replace

import pytest

from deployments.planning.catalog import Attention
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import RoleSpec
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from tests.planning.builders import a3, codes, combined, flags, gpu, plan, shipped

GLM = "zai-org/GLM-5.2"
SMALL = "meta-llama/Llama-3.1-8B-Instruct"
LARGE = "deepseek-ai/DeepSeek-V3.1"


def _role(*hosts: str, **sizes: int) -> RoleSpec:
    return RoleSpec(role=Role.COMBINED, hosts=hosts, **sizes)


def _a3_plan(model: str, role: RoleSpec) -> Plan:
    hosts = [a3(name, f"10.0.0.{index}") for index, name in enumerate(role.hosts)]
    return plan(combined(model, role=role), *hosts)


def _gpu_plan(model: str, role: RoleSpec, **host: object) -> Plan:
    return plan(combined(model, role=role), *(gpu(name, **host) for name in role.hosts))


@pytest.mark.parametrize(
    ("role", "tensor", "ranks", "devices"),
    [
        (_role("a"), "8", "2", 16),
        (_role("a", "b"), "8", "4", 16),
        (_role("a", devices_per_host=8), "8", None, 8),
        (_role("a", tensor_parallel_size=16), "16", None, 16),
        (_role("a", tensor_parallel_size=4, devices_per_host=16), "4", "4", 16),
        (_role("a", data_parallel_size=1), "8", None, 8),
        (_role("a", "b", tensor_parallel_size=8, data_parallel_size=4), "8", "4", 16),
    ],
)
def test_documented_layout_bends_to_a_persons_sizes(
    role: RoleSpec, tensor: str, ranks: str | None, devices: int
) -> None:
    made = _a3_plan(GLM, role)
    given = flags(made)
    assert given["--tensor-parallel-size"] == tensor
    assert given.get("--data-parallel-size") == ranks
    assert {len(replica.devices) for replica in made.replicas} == {devices}


def test_ranks_over_two_hosts_make_one_server_with_a_headless_follower() -> None:
    made = _a3_plan(GLM, _role("a", "b"))
    assert [replica.health_port for replica in made.replicas] == [8000, None]
    assert flags(made, 0)["--api-server-count"] == "1"
    assert flags(made, 1)["--data-parallel-start-rank"] == "2"
    assert "--api-server-count" not in flags(made, 1)


def test_hosts_that_no_instance_divides_serve_as_one() -> None:
    made = _a3_plan("deepseek-ai/DeepSeek-V4-Pro", _role("a", "b", "c"))
    assert flags(made)["--data-parallel-size"] == "3"


def test_one_host_serves_alone_what_documents_spread_over_two() -> None:
    made = _a3_plan("deepseek-ai/DeepSeek-V4-Pro", _role("a"))
    assert "--data-parallel-size" not in flags(made)
    assert "BELOW_DOCUMENTED_HARDWARE" in codes(made)
    assert not made.can_submit


def test_small_model_takes_one_device_and_each_host_serves_by_itself() -> None:
    made = _gpu_plan(SMALL, _role("g1", "g2"))
    assert [replica.devices for replica in made.replicas] == [(0,), (0,)]
    assert [replica.health_port for replica in made.replicas] == [8000, 8000]
    assert "LAYOUT_ASSUMED" in codes(made)


def test_devices_follow_from_the_published_need() -> None:
    made = _gpu_plan(LARGE, _role("g1"))
    assert len(made.replicas[0].devices) == 8
    assert made.can_submit


def test_experts_spread_over_hosts_when_one_is_too_small() -> None:
    made = _gpu_plan(LARGE, _role("g1", "g2"), device_memory_bytes=80 * 10**9)
    assert flags(made)["--data-parallel-size"] == "2"
    assert "--enable-expert-parallel" in flags(made)
    assert made.can_submit


def test_too_little_memory_is_an_error() -> None:
    made = _gpu_plan(LARGE, _role("g1"), device_memory_bytes=80 * 10**9)
    assert "MEMORY_BELOW_MINIMUM" in codes(made)


def test_unknown_memory_takes_the_whole_host_and_says_it_assumed() -> None:
    made = _gpu_plan(SMALL, _role("g1"), device_memory_bytes=None)
    assert len(made.replicas[0].devices) == 8
    assert "LAYOUT_ASSUMED" in codes(made)


def test_documented_need_without_a_layout_is_followed() -> None:
    made = _a3_plan("deepseek-ai/DeepSeek-R1", _role("a"))
    assert flags(made)["--tensor-parallel-size"] == "16"


def test_person_chooses_devices_without_a_document() -> None:
    made = _gpu_plan(SMALL, _role("g1", devices_per_host=4, data_parallel_size=2))
    assert flags(made)["--tensor-parallel-size"] == "2"
    assert flags(made)["--data-parallel-size"] == "2"
    assert len(made.replicas[0].devices) == 4


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        (
            _role("a", tensor_parallel_size=3, devices_per_host=16),
            "3 tensor parallel ranks do not divide",
        ),
        (
            _role(
                "a", tensor_parallel_size=4, devices_per_host=16, data_parallel_size=2
            ),
            "4 x 2 ranks need 8",
        ),
        (_role("a", "b", data_parallel_size=3), "do not divide over the 2 hosts"),
    ],
)
def test_sizes_that_do_not_divide_are_one_sentence(
    role: RoleSpec, sentence: str
) -> None:
    with pytest.raises(PlanningError, match=sentence):
        _a3_plan(GLM, role)


TWENTY_HEADS = replace(
    shipped(SMALL), attention=Attention(kind="gqa", heads=20), serving=()
)


def _sizes(role: RoleSpec, host: HostSnapshot) -> tuple[int, int]:
    spec = combined(SMALL, role=role)
    made = make_plan(spec, TWENTY_HEADS, [host], ClusterSettings())
    given = flags(made)
    return (
        int(given.get("--tensor-parallel-size") or 1),
        int(given.get("--data-parallel-size") or 1),
    )


def test_ranks_divide_the_attention_heads() -> None:
    host = gpu(device_memory_bytes=None, device=None)
    assert _sizes(_role("gpu-1", devices_per_host=8), host) == (4, 2)
    assert _sizes(_role("gpu-1", devices_per_host=4), host) == (4, 1)
    for given in (
        {"tensor_parallel_size": 8},
        {"devices_per_host": 8, "data_parallel_size": 1},
    ):
        with pytest.raises(PlanningError, match="do not divide the 20 attention heads"):
            _sizes(_role("gpu-1", **given), host)

"""What each hardware family changes in a plan: devices 8 to 15, whole cards, limits, kin."""

from dataclasses import replace
from typing import Any

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.recommendation import recommend
from deployments.planning.revision import Limits, RoleSpec, SpeculationChoice
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from tests.planning.builders import (
    a3,
    apart,
    codes,
    combined,
    decode,
    flags,
    gpu,
    plan,
    prefill,
    shipped,
)

GLM = "zai-org/GLM-5.2"
FLASH = "deepseek-ai/DeepSeek-V4-Flash"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def _host(platform: str, name: str = "x", **more: Any) -> HostSnapshot:
    values: dict[str, Any] = {
        "device_count": 8,
        "address": "10.0.2.1",
        "interface": "eth0",
        "model_root": "/data/models",
        **more,
    }
    return HostSnapshot(name=name, platform=platform, **values)


def _environment(made: Plan, index: int = 0) -> dict[str, str]:
    return dict(made.replicas[index].container.environment)


def test_second_half_of_an_a3_host_is_booked_by_host_numbers_and_counted_from_zero() -> (
    None
):
    host = a3("a", taken_devices=tuple(range(8)))
    spec = combined(
        FLASH, "a", role=RoleSpec(role=Role.COMBINED, hosts=("a",), devices_per_host=8)
    )
    made = plan(spec, host)
    replica = made.replicas[0]
    assert replica.devices == tuple(range(8, 16))
    nodes = [node.host_path for node in replica.container.devices][:8]
    assert nodes == [f"/dev/davinci{number}" for number in range(8, 16)]
    assert _environment(made)["ASCEND_RT_VISIBLE_DEVICES"] == "0,1,2,3,4,5,6,7"


def _one_die(*taken: int, **settings: Any) -> tuple[int, ...]:
    role = RoleSpec(role=Role.COMBINED, hosts=("a",), tensor_parallel_size=1)
    choice = SpeculationChoice(method="off")
    spec = combined("Qwen/Qwen3-32B", "a", role=role, speculation=choice)
    return plan(spec, a3("a", taken_devices=taken), **settings).replicas[0].devices


def test_a3_gives_whole_cards_unless_splitting_is_allowed() -> None:
    assert _one_die() == (0, 1)
    assert _one_die(0) == (2, 3)
    assert _one_die(0, split_cards=True) == (1,)


def test_half_cards_alone_are_too_few() -> None:
    role = RoleSpec(role=Role.COMBINED, hosts=("a",), devices_per_host=2)
    made = plan(
        combined("Qwen/Qwen3-32B", "a", role=role),
        a3("a", taken_devices=tuple(range(0, 16, 2))),
    )
    assert "DEVICES_INSUFFICIENT" in codes(made)


@pytest.mark.parametrize(("devices", "visible"), [(8, "0,1,2,3,4,5,6,7"), (4, None)])
def test_950_names_its_devices_only_when_it_has_them_all(
    devices: int, visible: str | None
) -> None:
    role = RoleSpec(
        role=Role.COMBINED,
        hosts=("x",),
        devices_per_host=devices,
        tensor_parallel_size=devices,
    )
    made = plan(combined(FLASH, "x", role=role), _host("ascend-950"))
    container = made.replicas[0].container
    assert _environment(made).get("ASCEND_RT_VISIBLE_DEVICES") == visible
    assert {"/dev/ummu", "/dev/uburma"} <= {one.host_path for one in container.devices}
    assert "/etc/hixlep" in {one.source for one in container.mounts}
    assert container.image.reference.endswith("-950dt")
    assert "PLATFORM_NOT_DOCUMENTED" in codes(made)


def test_950_tells_the_connector_where_its_communication_resources_are() -> None:
    spec = apart(FLASH, prefill("x"), decode("y"))
    made = plan(spec, _host("ascend-950"), _host("ascend-950", "y"))
    text = flags(made)["--kv-transfer-config"] or ""
    assert '"ascend_local_comm_res_path":"/etc/hixlep"' in text


def _on_310p(**limits: int) -> Plan:
    known = shipped("Qwen/Qwen3-32B")
    first = replace(known.checkpoints[0], platforms=("ascend-310p",))
    model = replace(known, checkpoints=(first,), drafters=(), serving=())
    spec = combined(model.key, "x", limits=Limits(**limits))
    return make_plan(spec, model, [_host("ascend-310p")], ClusterSettings())


def test_310p_has_its_own_flags_and_limits() -> None:
    made = _on_310p(max_model_len=4096)
    given = flags(made)
    assert given["--dtype"] == "float16"
    assert given["--additional-config"] == (
        '{"ascend_compilation_config":{"enable_npugraph_ex":false}}'
    )
    assert made.replicas[0].container.shm_size_bytes == 10 << 30
    assert made.decision.method == "ngram"
    suffix = next(one for one in made.decision.methods if one.method == "dflash")
    assert "Nobody has documented DFlash" in suffix.because
    assert "LENGTH_NEEDED" not in codes(made)
    assert "LENGTH_NEEDED" in codes(_on_310p())


def test_310p_serves_only_what_is_documented_for_it() -> None:
    with pytest.raises(PlanningError, match=r"no checkpoint of .* for ascend-310p"):
        plan(combined(LLAMA, "x"), _host("ascend-310p"))


def test_amd_runs_what_is_documented_on_nvidia_and_says_so() -> None:
    host = _host(
        "amd", device="MI300X", device_memory_bytes=192 * 10**9, taken_devices=(0,)
    )
    made = plan(combined(LLAMA, "x", limits=Limits(max_model_len=8192)), host)
    container = made.replicas[0].container
    assert made.decision.method == "eagle3"
    assert [one.host_path for one in container.devices] == ["/dev/kfd", "/dev/dri"]
    assert container.group_add == ("video", "render")
    assert container.cap_add == ("SYS_PTRACE",)
    assert container.device_requests == ()
    assert made.replicas[0].devices == (1,)
    assert _environment(made)["HIP_VISIBLE_DEVICES"] == "1"
    assert "PLATFORM_NOT_DOCUMENTED" in codes(made)
    assert made.can_submit


def test_amd_refuses_weights_that_only_nvidia_reads() -> None:
    with pytest.raises(
        PlanningError, match="quantised as nvfp4, which AMD GPU does not run"
    ):
        plan(combined(GLM, "x", checkpoint="nvfp4"), _host("amd"))
    assert recommend(shipped(GLM), "amd").checkpoint.quantisation != "nvfp4"


def test_release_before_the_first_image_is_told() -> None:
    made = plan(combined(LLAMA, "x", engine="vllm==0.13.0"), _host("amd"))
    assert "IMAGE_NOT_PUBLISHED" in codes(made)
    assert "IMAGE_NOT_PUBLISHED" not in codes(plan(combined(LLAMA, "gpu-1"), gpu()))


def test_transport_is_appended_to_the_library_path_of_the_image() -> None:
    spec = apart(GLM, prefill("a"), decode("b"))
    made = plan(spec, a3("a"), a3("b", "10.0.0.2"))
    for replica in made.replicas:
        if replica.role.value == "router":
            continue
        shell, option, line, name = replica.container.entrypoint
        assert (shell, option, name) == ("sh", "-c", "sh")
        assert '; LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}:/usr/local/Ascend/' in line
        assert line.endswith('exec "$@"')
        assert replica.container.command[:2] == ("vllm", "serve")
        assert "LD_LIBRARY_PATH" not in dict(replica.container.environment)
    alone = plan(combined(FLASH, "a"), a3("a")).replicas[0].container.entrypoint
    assert "LD_LIBRARY_PATH" not in alone[2]


def test_plan_says_which_driver_the_image_needs() -> None:
    made = plan(combined(FLASH, "a"), a3("a"))
    finding = next(one for one in made.findings if one.code == "DRIVER_NEEDED")
    assert "CANN 9.1.0" in finding.message
    assert "25.5.1" in finding.message


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"driver_version": "25.5.1"}, None),
        ({"driver_version": "25.0.rc1"}, "Driver 25.0.rc1 of a is too old"),
        ({"driver_version": "25.3.0"}, "Driver 25.3.0 of a is older than Ascend HDK"),
        (
            {"driver_compatible": False},
            "npu-smi says that driver and firmware of a do not",
        ),
        ({"driver_compatible": True}, "The image of 0.23.0 brings CANN 9.1.0"),
    ],
)
def test_plan_compares_the_driver_that_a_probe_read(
    facts: dict[str, Any], told: str | None
) -> None:
    host = replace(a3("a"), **facts)
    made = plan(combined(FLASH, "a", engine="vllm-ascend==0.23.0"), host)
    said = [one for one in made.findings if one.code == "DRIVER_NEEDED"]
    assert [one.message[: len(told or "")] for one in said] == [told] * bool(told)
    assert host.digest == a3("a").digest
    assert made.can_submit

"""Platforms: images, devices, environment, and nothing beyond the floor without a reason."""

import pytest

from deployments.planning.container import NetworkMode
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Role
from deployments.planning.platforms import PLATFORMS, PRACTICE, find_platform
from deployments.planning.platforms.cpu import cpu_environment
from deployments.planning.platforms.devices import device_memory
from deployments.planning.platforms.images import (
    is_practice,
    resolve,
    rewrite,
    split_reference,
)
from deployments.planning.platforms.platform import Placement
from deployments.planning.revision import Workload
from deployments.planning.snapshot import ClusterSettings, HostSnapshot, ImageSnapshot
from tests.planning.builders import PRACTICE as PRACTICE_IMAGE
from tests.planning.builders import a3, combined, cpu, gpu, plan

QWEN = "Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    ("platform", "version", "architecture", "image"),
    [
        ("nvidia", "0.32.0", "aarch64", "vllm/vllm-openai:v0.32.0"),
        ("cpu", "0.32.0", "x86_64", "vllm/vllm-openai-cpu:v0.32.0-x86_64"),
        ("cpu", "0.32.0", None, "vllm/vllm-openai-cpu:v0.32.0-x86_64"),
        ("cpu", "0.32.0", "aarch64", "vllm/vllm-openai-cpu:v0.32.0-arm64"),
        ("ascend-a2", "0.23.0", "aarch64", "quay.io/ascend/vllm-ascend:v0.23.0"),
        ("ascend-a3", "0.23.0", "aarch64", "quay.io/ascend/vllm-ascend:v0.23.0-a3"),
        ("ascend-950", "0.23.0", None, "quay.io/ascend/vllm-ascend:v0.23.0-950dt"),
        ("ascend-310p", "0.23.0", None, "quay.io/ascend/vllm-ascend:v0.23.0-310p"),
        ("amd", "0.32.0", "x86_64", "vllm/vllm-openai-rocm:v0.32.0"),
    ],
)
def test_image_of_a_platform(
    platform: str, version: str, architecture: str | None, image: str
) -> None:
    assert find_platform(platform).image(version, architecture) == image


def _placement(host: HostSnapshot, *devices: int, spans: bool) -> Placement:
    return Placement(host=host, role=Role.COMBINED, devices=devices, spans_hosts=spans)


def test_ascend_counts_devices_from_zero_inside_the_container() -> None:
    needs = find_platform("ascend-a3").needs(
        _placement(a3("a"), 8, 9, 10, 11, spans=False)
    )
    paths = [node.host_path for node in needs.devices]
    assert paths[:4] == [f"/dev/davinci{number}" for number in (8, 9, 10, 11)]
    assert {"/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"} <= set(paths)
    assert dict(needs.environment)["ASCEND_RT_VISIBLE_DEVICES"] == "0,1,2,3"
    assert needs.network_mode is NetworkMode.BRIDGE
    assert "/etc/hccn.conf" not in {mount.source for mount in needs.mounts}


def test_ascend_over_hosts_gets_the_fabric() -> None:
    needs = find_platform("ascend-a2").needs(_placement(a3("a"), 0, spans=True))
    assert needs.network_mode is NetworkMode.HOST
    assert "/etc/hccn.conf" in {mount.source for mount in needs.mounts}
    assert dict(needs.environment)["HCCL_IF_IP"] == "10.0.0.1"
    assert "ASCEND_A3_ENABLE" not in dict(needs.environment)


@pytest.mark.parametrize(
    ("architecture", "preloaded"),
    [
        ("aarch64", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"),
        ("x86_64", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"),
        (None, None),
    ],
)
def test_jemalloc_is_preloaded_from_where_the_architecture_has_it(
    architecture: str | None, preloaded: str | None
) -> None:
    host = a3("a", architecture=architecture)
    needs = find_platform("ascend-a3").needs(_placement(host, 0, spans=False))
    assert dict(needs.environment).get("LD_PRELOAD") == preloaded


def test_nvidia_asks_the_driver_for_host_numbers() -> None:
    needs = find_platform("nvidia").needs(_placement(gpu(), 4, 5, spans=False))
    assert [request.device_ids for request in needs.device_requests] == [("4", "5")]
    assert needs.cap_add == ()
    assert needs.beyond == ()


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("spans", [False, True])
def test_everything_beyond_the_floor_has_a_reason(name: str, *, spans: bool) -> None:
    needs = PLATFORMS[name].needs(_placement(a3("a"), 0, spans=spans))
    named = {beyond.what for beyond in needs.beyond}
    assert {f"capability {one}" for one in needs.cap_add} <= named
    assert ("host network" in named) == (needs.network_mode is NetworkMode.HOST)
    assert all(beyond.why and beyond.source for beyond in needs.beyond)


def test_practice_needs_nothing() -> None:
    needs = PRACTICE.needs(_placement(cpu(), spans=False))
    assert (needs.mounts, needs.devices, needs.cap_add, needs.beyond) == (
        (),
        (),
        (),
        (),
    )


def test_practice_runs_any_model_on_any_host_without_devices() -> None:
    made = plan(combined("zai-org/GLM-5.2", "a", image=PRACTICE_IMAGE), a3("a"))
    replica = made.replicas[0]
    assert made.practice
    assert made.checkpoint == "fp8"
    assert replica.devices == ()
    assert replica.container.mounts == ()
    assert replica.container.environment == ()
    assert replica.health_port == 8000


def test_unknown_platform_is_one_sentence() -> None:
    with pytest.raises(PlanningError, match="cannot plan for the platform 'tpu' yet"):
        find_platform("tpu")


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("vllm/vllm-openai:v1", ("vllm/vllm-openai", "v1")),
        ("vllm/vllm-openai", ("vllm/vllm-openai", None)),
        ("registry:5000/vllm", ("registry:5000/vllm", None)),
        ("registry:5000/vllm:v1", ("registry:5000/vllm", "v1")),
        ("a/b@sha256:ff", ("a/b@sha256:ff", None)),
    ],
)
def test_reference_splits_at_its_tag(
    reference: str, parts: tuple[str, str | None]
) -> None:
    assert split_reference(reference) == parts


@pytest.mark.parametrize(
    ("image", "practice"),
    [
        ("draftboard/practice-vllm:0.32.0", True),
        ("draftboard/practice-vllm", True),
        ("draftboard/practice-vllm-2:1", False),
        (None, False),
    ],
)
def test_practice_image_is_recognised(image: str | None, *, practice: bool) -> None:
    assert is_practice(image) is practice


REWRITES = (
    ("vllm", "mirror.example/all"),
    ("vllm/vllm-openai", "registry.example/mirror/vllm-openai"),
    ("quay.io/", "registry.example/quay/"),
)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("vllm/vllm-openai:v1", "registry.example/mirror/vllm-openai:v1"),
        ("vllm/vllm-openai-cpu:v1", "mirror.example/all/vllm-openai-cpu:v1"),
        (
            "quay.io/ascend/vllm-ascend:v1",
            "registry.example/quay/ascend/vllm-ascend:v1",
        ),
        ("other/image:v1", "other/image:v1"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_longest_prefix_is_rewritten_in_any_order(
    reference: str, expected: str, order: int
) -> None:
    settings = ClusterSettings(image_rewrites=REWRITES[::order])
    assert rewrite(reference, settings) == expected


def test_image_is_resolved_by_what_the_host_has() -> None:
    known = ImageSnapshot(
        reference="docker.io/vllm/vllm-openai:v1",
        image_id="sha256:i",
        digest="sha256:d",
    )
    host = gpu(images=(known,))
    found = resolve("vllm/vllm-openai:v1", host)
    assert (found.reference, found.digest, found.image_id) == (
        "vllm/vllm-openai:v1",
        "sha256:d",
        "sha256:i",
    )
    assert not resolve("vllm/vllm-openai:v2", host).resolved
    untagged = ImageSnapshot(reference="draft/x:latest", image_id="sha256:x")
    assert resolve("draft/x", gpu(images=(untagged,))).resolved


@pytest.mark.parametrize(
    ("platform", "device", "expected"),
    [
        ("ascend-a3", None, 64 << 30),
        ("nvidia", "H200", 141 * 10**9),
        ("nvidia", "NVIDIA H100", 80 * 10**9),
        ("nvidia", "Mystery", None),
        ("nvidia", None, None),
        ("ascend-950", None, 96 << 30),
        ("ascend-310p", None, None),
        ("amd", "AMD Instinct MI300X", 192 * 10**9),
        ("amd", "MI355X", 288 * 10**9),
        ("cpu", None, None),
    ],
)
def test_memory_of_a_device(
    platform: str, device: str | None, expected: int | None
) -> None:
    assert device_memory(platform, device) == expected


@pytest.mark.parametrize(
    ("concurrency", "space"),
    [
        (1, "6"),  # one request of 40,960 tokens of 148 KiB
        (1000, "353"),  # 1,000 times 2,500 tokens
    ],
)
def test_cpu_is_told_its_cache_and_its_threads(concurrency: int, space: str) -> None:
    made = plan(
        combined(QWEN, "local", workload=Workload(concurrency=concurrency)), cpu()
    )
    (replica,) = made.replicas
    told = dict(replica.container.environment)
    assert told["VLLM_CPU_KVCACHE_SPACE"] == space
    assert told["VLLM_CPU_OMP_THREADS_BIND"] == "auto"
    assert replica.container.shm_size_bytes == 4 << 30
    assert not replica.container.devices
    assert not replica.container.device_requests


def test_a_cpu_is_told_its_cache_where_the_bytes_of_a_token_are_unknown() -> None:
    assert cpu_environment(None)["VLLM_CPU_KVCACHE_SPACE"] == "4"


def test_what_a_person_says_of_the_cache_of_a_cpu_wins() -> None:
    own = (("VLLM_CPU_KVCACHE_SPACE", "2"), ("VLLM_CPU_OMP_THREADS_BIND", "0-3"))
    (replica,) = plan(combined(QWEN, "local", environment=own), cpu()).replicas
    assert set(own) <= set(replica.container.environment)

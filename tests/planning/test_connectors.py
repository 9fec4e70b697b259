"""Prefill and decode apart: the connector of engine and model, its addresses, and what containers may do."""

import json
from typing import Any

import pytest

from deployments.planning.container import NetworkMode
from deployments.planning.plan import Plan, Role, plan_from_document
from tests.planning.builders import (
    a3,
    apart,
    codes,
    combined,
    cpu,
    decode,
    flags,
    gpu,
    plan,
    prefill,
)
from tests.planning.test_every_plan import _host as host_of

V3, FLASH = "deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-V4-Flash"


def _on_gpus(**second: Any) -> Plan:
    hosts = [gpu("gpu-1"), gpu("gpu-2", **{"address": "10.0.1.2", **second})]
    return plan(apart(V3, prefill("gpu-1"), decode("gpu-2")), *hosts)


def _transfer(made: Plan, index: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        flags(made, index)["--kv-transfer-config"] or "{}"
    )
    return found


def test_vllm_transfers_with_nixl_at_the_address_and_interface_of_each_host() -> None:
    made = _on_gpus()
    engines = [one for one in made.replicas if one.role is not Role.ROUTER]
    assert [one.role for one in engines] == [Role.PREFILL, Role.DECODE]
    for index, (replica, address) in enumerate(
        zip(engines, ("10.0.1.1", "10.0.1.2"), strict=True)
    ):
        assert _transfer(made, index)["kv_connector"] == "NixlConnector"
        environment = dict(replica.container.environment)
        (port,) = [one for one in replica.container.ports if one.purpose == "kv"]
        assert environment["VLLM_NIXL_SIDE_CHANNEL_HOST"] == address
        assert environment["VLLM_NIXL_SIDE_CHANNEL_PORT"] == str(port.host)
        assert environment["VLLM_HOST_IP"] == address
        assert environment["GLOO_SOCKET_IFNAME"] == "eth0"
        assert environment["NCCL_SOCKET_IFNAME"] == "eth0"
        assert replica.container.network_mode is NetworkMode.HOST
    roles = [_transfer(made, index)["kv_role"] for index in (0, 1)]
    assert roles == ["kv_producer", "kv_consumer"]


def test_nixl_without_an_rdma_device_is_slow_and_with_one_its_containers_reach_it() -> (
    None
):
    assert "KV_TRANSFER_OVER_TCP" in codes(_on_gpus())
    hosts = [gpu("gpu-1"), gpu("gpu-2", address="10.0.1.2")]
    named = (("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1"),)
    spec = apart(V3, prefill("gpu-1"), decode("gpu-2"), environment=named)
    made = plan(spec, *hosts)
    assert "KV_TRANSFER_OVER_TCP" not in codes(made)
    paths = [
        [node.host_path for node in one.container.devices] for one in made.replicas
    ]
    assert paths == [["/dev/infiniband"], ["/dev/infiniband"], []]
    reasons = [one for one in made.findings if one.code == "BEYOND_CONTAINER_FLOOR"]
    assert any("RDMA" in one.message for one in reasons)
    together = plan(apart(V3, prefill("gpu-1"), decode("gpu-1")), gpu("gpu-1"))
    assert "KV_TRANSFER_OVER_TCP" not in codes(together)


def test_nixl_without_address_and_interface_asks_for_them() -> None:
    made = _on_gpus(address=None, interface=None)
    environment = dict(made.replicas[1].container.environment)
    assert environment["VLLM_NIXL_SIDE_CHANNEL_HOST"] == "${HOST_ADDRESS}"
    assert environment["NCCL_SOCKET_IFNAME"] == "${HOST_INTERFACE}"
    assert codes(made) >= {"HOST_ADDRESS_UNKNOWN", "HOST_INTERFACE_UNKNOWN"}


def test_a_plan_that_lacks_the_same_on_two_hosts_reads_back() -> None:
    hosts = [gpu(name, model_root=None) for name in ("gpu-1", "gpu-2")]
    made = plan(apart(V3, prefill("gpu-1"), decode("gpu-2")), *hosts)
    assert "MODEL_ROOT_UNKNOWN" in codes(made)
    assert plan_from_document(made.document) == made


def test_deepseek_v4_on_ascend_transfers_with_the_hybrid_connector() -> None:
    made = plan(apart(FLASH, prefill("a"), decode("b")), a3("a"), a3("b", "10.0.0.2"))
    ports = []
    for index, replica in enumerate(made.replicas[:2]):
        transfer = _transfer(made, index)
        assert transfer["kv_connector"] == "MooncakeHybridConnector"
        taken = [one.host for one in replica.container.ports if one.purpose == "kv"]
        assert taken == list(range(taken[0], taken[0] + len(replica.devices)))
        assert transfer["kv_port"] == str(taken[0])
        ports += taken
    assert len(set(ports)) == len(ports)


@pytest.mark.parametrize(
    ("platform", "taken"),
    [("ascend-a2", range(20000, 28000)), ("ascend-a3", range(20000, 36000))],
)
def test_kv_ports_keep_clear_of_direct_transport_hccl_and_the_kernel(
    platform: str, taken: range
) -> None:
    """AscendDirectTransport takes 1000 ports a device from 20000 on, HCCL those from 60000 on."""
    hosts = [host_of(platform, number) for number in (1, 2)]
    spec = apart("Qwen/Qwen3-8B", prefill("host-1"), decode("host-2"))
    made = plan(spec, *hosts)
    ports = [
        port.host
        for replica in made.replicas
        for port in replica.container.ports
        if port.purpose == "kv"
    ]
    assert ports
    for busy in (taken, range(32768, 61000)):
        assert set(busy).isdisjoint(ports)


@pytest.mark.parametrize(
    ("platform", "capabilities"),
    [
        ("nvidia", ()),
        ("amd", ("SYS_PTRACE",)),
        ("cpu", ("SYS_NICE",)),
        ("ascend-a2", ("DAC_OVERRIDE", "SYS_NICE")),
        ("ascend-a3", ("DAC_OVERRIDE", "SYS_NICE")),
    ],
)
def test_containers_get_what_their_platform_declares_and_no_more(
    platform: str, capabilities: tuple[str, ...]
) -> None:
    made = plan(combined("Qwen/Qwen3-8B", "host-1"), host_of(platform, 1))
    (replica,) = made.replicas
    container = replica.container
    assert container.cap_drop == ("ALL",)
    assert container.cap_add == capabilities
    assert container.security_opt == ("no-new-privileges",)
    assert container.ipc_mode == "private"
    assert container.network_mode is NetworkMode.BRIDGE


def test_practice_gets_nothing() -> None:
    image = "draftboard/practice-vllm:0.32.0"
    made = plan(combined("Qwen/Qwen3-8B", "local", image=image), cpu())
    assert made.replicas[0].container.cap_add == ()

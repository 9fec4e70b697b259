"""NVIDIA GPUs: devices come through the container toolkit, engine ``vllm``."""

from dataclasses import dataclass

from deployments.planning.container import DeviceRequest, NetworkMode
from deployments.planning.platforms.platform import (
    ORDINARY,
    Beyond,
    ContainerNeeds,
    Placement,
    Traits,
)
from deployments.planning.text import text

NIXL_SIDE_CHANNEL_PORT = 5600
"""Default of NixlConnector since vLLM 0.11.1; unique per instance on a host."""


@dataclass(frozen=True, slots=True)
class Nvidia:
    """Source: vLLM documentation, docker deployment and NixlConnector, 0.32.0."""

    name: str = "nvidia"
    title: str = "NVIDIA GPU"
    engine: str = "vllm"
    default_engine_version: str = "0.32.0"
    has_devices: bool = True
    first_kv_port: int = NIXL_SIDE_CHANNEL_PORT
    kv_connector: str | None = "NixlConnector"
    traits: Traits = ORDINARY

    def image(self, engine_version: str, architecture: str | None) -> str:
        """Return ``vllm/vllm-openai:v<version>``; the tag serves x86-64 and aarch64 hosts."""
        del architecture
        return f"vllm/vllm-openai:v{engine_version}"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Ask the driver for the devices by number; inside the container they count from 0."""
        ids = tuple(str(number) for number in placement.devices)
        request = DeviceRequest(driver="nvidia", device_ids=ids, capabilities=("gpu",))
        beyond = []
        if placement.spans_hosts:
            beyond.append(
                Beyond(
                    what=text("host network"),
                    why=text(
                        "NIXL and NCCL exchange addresses and ports that other hosts must reach."
                    ),
                    source="vLLM documentation, NixlConnector usage, 0.32.0",
                )
            )
        return ContainerNeeds(
            device_requests=(request,) if ids else (),
            network_mode=NetworkMode.HOST
            if placement.spans_hosts
            else NetworkMode.BRIDGE,
            shm_size_bytes=16 << 30,
            memory_lock=placement.spans_hosts,
            beyond=tuple(beyond),
        )

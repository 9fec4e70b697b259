"""Hosts without accelerators: the CPU build of vLLM, and the practice image that needs nothing."""

from dataclasses import dataclass

from deployments.planning.platforms.platform import (
    ORDINARY,
    Beyond,
    ContainerNeeds,
    Placement,
    Traits,
)
from deployments.planning.text import text

ARM = frozenset(("aarch64", "arm64"))


@dataclass(frozen=True, slots=True)
class Cpu:
    """Source: vLLM documentation, CPU installation, 0.32.0."""

    name: str = "cpu"
    title: str = text("CPU, no accelerator")
    engine: str = "vllm"
    default_engine_version: str = "0.32.0"
    has_devices: bool = False
    first_kv_port: int = 5600
    kv_connector: str | None = None
    traits: Traits = ORDINARY

    def image(self, engine_version: str, architecture: str | None) -> str:
        """Return ``vllm/vllm-openai-cpu`` with the tag of the host's architecture."""
        suffix = "arm64" if architecture in ARM else "x86_64"
        return f"vllm/vllm-openai-cpu:v{engine_version}-{suffix}"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Allow memory binding to NUMA nodes, nothing else."""
        del placement
        return ContainerNeeds(
            cap_add=("SYS_NICE",),
            shm_size_bytes=4 << 30,
            beyond=(
                Beyond(
                    what=text("capability SYS_NICE"),
                    why=text(
                        "The CPU backend binds memory to NUMA nodes, which the default seccomp profile "
                        "allows with this capability only."
                    ),
                    source="vLLM documentation, CPU installation, 0.32.0",
                ),
            ),
        )


@dataclass(frozen=True, slots=True)
class Practice(Cpu):
    """Any host under the practice image: no weights, no devices, nothing beyond the floor."""

    kv_connector: str | None = "NixlConnector"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Need nothing."""
        del placement
        return ContainerNeeds(shm_size_bytes=64 << 20)

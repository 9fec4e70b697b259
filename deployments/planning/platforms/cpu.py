"""Hosts without accelerators: the CPU build of vLLM, and the practice image that needs nothing."""

from dataclasses import dataclass

from deployments.planning.plan import RoleMemory
from deployments.planning.platforms.platform import (
    ORDINARY,
    Beyond,
    ContainerNeeds,
    Placement,
    Traits,
)
from deployments.planning.text import text

ARM = frozenset(("aarch64", "arm64"))
GIBIBYTE = 1 << 30
KV_SPACE = "VLLM_CPU_KVCACHE_SPACE"
KV_SPACE_UNKNOWN = "4"
"""GiB where the bytes of a token are not known, as for a drafter of unknown shape: the panel's choice."""
THREADS = "VLLM_CPU_OMP_THREADS_BIND"


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


def cpu_environment(memory: RoleMemory | None) -> dict[str, str]:
    """Return what the engine must be told where no device says it: KV cache in GiB, and the cores.

    Left to itself vLLM 0.32.0 wants 92 % of the host's main memory and does not start where anything
    else uses more than the rest. The cache holds what the workload asks for at once, and at least one
    request of full length; ``KV_SPACE_UNKNOWN`` where nobody knows the bytes of a token. ``auto`` binds
    the threads of a rank to the cores of one NUMA node and leaves one core to the API server.
    """
    told = {THREADS: "auto"}
    if memory is None or memory.kv_bytes_per_token is None:
        return told | {KV_SPACE: KV_SPACE_UNKNOWN}
    tokens = max(
        memory.sequence_tokens * memory.sequences_wanted, memory.max_model_len or 0
    )
    states = (memory.state_bytes_per_sequence or 0) * memory.sequences_wanted
    needed = tokens * memory.kv_bytes_per_token + states
    return told | {KV_SPACE: str(max(1, -(-needed // GIBIBYTE)))}


@dataclass(frozen=True, slots=True)
class Practice(Cpu):
    """Any host under the practice image: no weights, no devices, nothing beyond the floor."""

    kv_connector: str | None = "NixlConnector"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Need nothing."""
        del placement
        return ContainerNeeds(shm_size_bytes=64 << 20)

"""AMD GPUs: ROCm reaches them through device nodes, engine ``vllm``."""

from dataclasses import dataclass

from deployments.planning.container import DeviceNode, NetworkMode
from deployments.planning.platforms.platform import (
    Beyond,
    ContainerNeeds,
    Placement,
    Traits,
)
from deployments.planning.text import text

SOURCE = "vLLM documentation, ROCm installation and docker deployment, 0.32.0"
NODES = ("/dev/kfd", "/dev/dri")
GROUPS = ("video", "render")
_BEYOND = (
    Beyond(
        what=text("capability SYS_PTRACE"),
        why=text("ROCm passes memory between the processes of the ranks."),
        source=SOURCE,
    ),
    Beyond(
        what=text("groups video and render"),
        why=text("The nodes under /dev/dri and /dev/kfd belong to these groups."),
        source=SOURCE,
    ),
)
_HOST_NETWORK = Beyond(
    what=text("host network"),
    why=text("NIXL and RCCL exchange addresses and ports that other hosts must reach."),
    source="vLLM documentation, NixlConnector usage, 0.32.0",
)
TRAITS = Traits(
    documented_as="nvidia",
    refused_quantisations=("nvfp4",),
    image_since="0.14.1",
    source=SOURCE,
)


@dataclass(frozen=True, slots=True)
class Amd:
    """A container sees every GPU of the host by its number there; HIP_VISIBLE_DEVICES chooses.

    The documents also run with ``--ipc=host`` and without seccomp; a sized ``/dev/shm`` and
    SYS_PTRACE, which Docker's default profile respects, do instead.
    """

    name: str = "amd"
    title: str = "AMD GPU"
    engine: str = "vllm"
    default_engine_version: str = "0.32.0"
    has_devices: bool = True
    first_kv_port: int = 5600
    kv_connector: str | None = "NixlConnector"
    traits: Traits = TRAITS

    def image(self, engine_version: str, architecture: str | None) -> str:
        """Return ``vllm/vllm-openai-rocm:v<version>``, for x86-64 hosts."""
        del architecture
        return f"vllm/vllm-openai-rocm:v{engine_version}"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Map ROCm's nodes whole: their numbers do not follow those of the GPUs."""
        numbers = ",".join(str(number) for number in placement.devices)
        apart = placement.spans_hosts
        return ContainerNeeds(
            devices=tuple(
                DeviceNode(host_path=path, container_path=path) for path in NODES
            ),
            environment=(("HIP_VISIBLE_DEVICES", numbers),) if numbers else (),
            cap_add=("SYS_PTRACE",),
            group_add=GROUPS,
            network_mode=NetworkMode.HOST if apart else NetworkMode.BRIDGE,
            shm_size_bytes=16 << 30,
            memory_lock=apart,
            beyond=_BEYOND + ((_HOST_NETWORK,) if apart else ()),
        )

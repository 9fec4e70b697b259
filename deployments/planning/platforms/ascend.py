"""What all Ascend families share: device nodes, driver mounts, environment, images."""

from dataclasses import dataclass

from deployments.planning.container import DeviceNode, Mount, NetworkMode
from deployments.planning.platforms.platform import (
    Beyond,
    ContainerNeeds,
    Placement,
    container_numbers,
)
from deployments.planning.text import text
from deployments.planning.variables import address_of, interface_of

INSTALLATION = "vllm-ascend documentation v0.23.0, installation"
REPOSITORY = "quay.io/ascend/vllm-ascend"
MANAGEMENT_NODES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
DRIVER_MOUNTS = (
    "/etc/ascend_install.info",
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/Ascend/driver/version.info",
    "/usr/local/bin/npu-smi",
    "/usr/local/dcmi",
)
FABRIC_MOUNTS = ("/etc/hccn.conf", "/usr/local/Ascend/driver/tools/hccn_tool")
JEMALLOC = "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"
_BEYOND = (
    Beyond(
        what=text("capability DAC_OVERRIDE"),
        why=text(
            "The device nodes and driver files belong to the driver's own group, and the image "
            "runs as root, which loses access to them with all capabilities dropped."
        ),
        source=text("assumed: not run on an NPU"),
    ),
    Beyond(
        what=text("capability SYS_NICE"),
        why=text("enable_cpu_binding moves memory to the NUMA node of the device."),
        source=text("assumed: not run on an NPU"),
    ),
)
_HOST_NETWORK = Beyond(
    what=text("host network"),
    why=text(
        "HCCL and Mooncake reach other hosts through the host's own interfaces and ports."
    ),
    source="vllm-ascend documentation v0.23.0, multi-node tutorials",
)


@dataclass(frozen=True, slots=True)
class Ascend:
    """One Ascend family; a device is a die, named by its number on the host."""

    name: str
    title: str
    image_suffix: str
    first_kv_port: int
    family_environment: tuple[tuple[str, str], ...] = ()
    engine: str = "vllm-ascend"
    default_engine_version: str = "0.23.0"
    has_devices: bool = True
    kv_connector: str | None = "MooncakeConnectorV1"

    def image(self, engine_version: str, architecture: str | None) -> str:
        """Return the image of the family; every tag serves aarch64 and x86-64 hosts."""
        del architecture
        return f"{REPOSITORY}:v{engine_version}{self.image_suffix}"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Map the dies and the driver; with other hosts also the fabric and the host's network."""
        nodes = [f"/dev/davinci{number}" for number in placement.devices]
        mounts = DRIVER_MOUNTS + (FABRIC_MOUNTS if placement.spans_hosts else ())
        return ContainerNeeds(
            devices=tuple(
                DeviceNode(host_path=path, container_path=path)
                for path in (*nodes, *MANAGEMENT_NODES)
            ),
            mounts=tuple(Mount(source=path, target=path) for path in sorted(mounts)),
            environment=self._environment(placement),
            cap_add=("DAC_OVERRIDE", "SYS_NICE"),
            network_mode=NetworkMode.HOST
            if placement.spans_hosts
            else NetworkMode.BRIDGE,
            shm_size_bytes=1 << 30,
            memory_lock=placement.spans_hosts,
            beyond=_BEYOND + ((_HOST_NETWORK,) if placement.spans_hosts else ()),
        )

    def _environment(self, placement: Placement) -> tuple[tuple[str, str], ...]:
        values = {"ASCEND_RT_VISIBLE_DEVICES": container_numbers(placement.devices)}
        if placement.host.architecture in ("aarch64", "arm64"):
            values["LD_PRELOAD"] = JEMALLOC
        if placement.spans_hosts:
            interface = interface_of(placement.host)
            values |= {
                "HCCL_IF_IP": address_of(placement.host),
                "GLOO_SOCKET_IFNAME": interface,
                "HCCL_SOCKET_IFNAME": interface,
                "TP_SOCKET_IFNAME": interface,
                **dict(self.family_environment),
            }
        return tuple(sorted(values.items()))

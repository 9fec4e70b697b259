"""What all Ascend families share: device nodes, driver mounts, environment, images."""

from dataclasses import dataclass

from deployments.planning.container import DeviceNode, Mount, NetworkMode
from deployments.planning.platforms.platform import (
    ORDINARY,
    Beyond,
    ContainerNeeds,
    Placement,
    Traits,
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
MOONCAKE_LIBRARIES = (
    "/usr/local/Ascend/ascend-toolkit/latest/python/site-packages/mooncake"
)
JEMALLOC = {
    "aarch64": "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
    "arm64": "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
    "x86_64": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
    "amd64": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
}
"""Where the Ubuntu images hold the package libjemalloc2, by architecture of the host."""
DRIVERS = {
    "0.23.0": "9.1.0",
    "0.23.0rc1": "9.0.1",
    "0.22.1rc1": "9.0.0",
    "0.21.0rc1": "9.0.0",
    "0.20.2rc1": "9.0.0",
    "0.19.1rc1": "8.5.1",
    "0.18.0": "8.5.1",
    "0.17.0rc1": "8.5.1",
    "0.13.0": "8.5.0",
    "0.11.0": "8.3.RC2",
}
"""CANN of the images by vllm-ascend release (versioning policy of v0.23.0)."""
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
    """One Ascend family; a device is a die, named by its number on the host.

    ``driver_mounts`` and ``fabric_mounts`` are the driver's files, the second where ranks or KV
    cache cross hosts. ``subset_unset`` leaves ASCEND_RT_VISIBLE_DEVICES out unless every device is
    mapped.
    """

    name: str
    title: str
    image_suffix: str
    first_kv_port: int
    family_environment: tuple[tuple[str, str], ...] = ()
    engine: str = "vllm-ascend"
    default_engine_version: str = "0.23.0"
    has_devices: bool = True
    kv_connector: str | None = "MooncakeConnectorV1"
    management_nodes: tuple[str, ...] = MANAGEMENT_NODES
    driver_mounts: tuple[str, ...] = DRIVER_MOUNTS
    fabric_mounts: tuple[str, ...] = FABRIC_MOUNTS
    shm_size_bytes: int = 1 << 30
    subset_unset: bool = False
    traits: Traits = ORDINARY

    def image(self, engine_version: str, architecture: str | None) -> str:
        """Return the image of the family; every tag serves aarch64 and x86-64 hosts."""
        del architecture
        return f"{REPOSITORY}:v{engine_version}{self.image_suffix}"

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Map the dies and the driver; with other hosts also the fabric and the host's network."""
        nodes = [f"/dev/davinci{number}" for number in placement.devices]
        fabric = self.fabric_mounts if placement.spans_hosts else ()
        mounts = self.driver_mounts + fabric
        return ContainerNeeds(
            devices=tuple(
                DeviceNode(host_path=path, container_path=path)
                for path in (*nodes, *self.management_nodes)
            ),
            mounts=tuple(Mount(source=path, target=path) for path in sorted(mounts)),
            environment=self._environment(placement),
            cap_add=("DAC_OVERRIDE", "SYS_NICE"),
            network_mode=NetworkMode.HOST
            if placement.spans_hosts
            else NetworkMode.BRIDGE,
            shm_size_bytes=self.shm_size_bytes,
            library_path=MOONCAKE_LIBRARIES if placement.transfers else None,
            memory_lock=placement.spans_hosts,
            beyond=_BEYOND + ((_HOST_NETWORK,) if placement.spans_hosts else ()),
        )

    def _environment(self, placement: Placement) -> tuple[tuple[str, str], ...]:
        values: dict[str, str] = {}
        if placement.whole_host or not self.subset_unset:
            values["ASCEND_RT_VISIBLE_DEVICES"] = container_numbers(placement.devices)
        preloaded = JEMALLOC.get(placement.host.architecture or "")
        if preloaded is not None:
            values["LD_PRELOAD"] = preloaded
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

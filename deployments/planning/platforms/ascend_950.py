"""Ascend 950DT: eight devices a host, other device nodes and more of the driver than A2 and A3."""

from deployments.planning.platforms.ascend import Ascend
from deployments.planning.platforms.platform import Traits

LOCAL_COMMUNICATION = "/etc/hixlep"
DRIVER_MOUNTS_950 = (
    "/etc/ascend_install.info",
    "/etc/hccl_rootinfo.json",
    LOCAL_COMMUNICATION,
    "/usr/lib64",
    "/usr/local/Ascend/driver",
    "/usr/local/bin/npu-smi",
    "/usr/local/dcmi",
    "/usr/local/sbin",
)
ASCEND_950 = Ascend(
    name="ascend-950",
    title="Ascend 950DT",
    image_suffix="-950dt",
    first_kv_port=28000,
    management_nodes=(
        "/dev/davinci_manager",
        "/dev/hisi_hdc",
        "/dev/ummu",
        "/dev/uburma",
    ),
    driver_mounts=DRIVER_MOUNTS_950,
    fabric_mounts=(),
    subset_unset=True,
    traits=Traits(
        documented_as="ascend-a3",
        kv_extra=(("ascend_local_comm_res_path", LOCAL_COMMUNICATION),),
        image_since="0.23.0",
        source="vllm-ascend documentation v0.23.0, 950DT tutorials",
    ),
)
"""Below 28000 AscendDirectTransport takes random ports, 1000 to a device (vllm-ascend v0.23.0); from
32768 on the kernel gives ports to whoever connects (its default)."""

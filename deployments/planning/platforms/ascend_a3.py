"""Atlas A3: sixteen devices a host, two dies to a card."""

from deployments.planning.platforms.ascend import Ascend
from deployments.planning.platforms.platform import Traits

ASCEND_A3 = Ascend(
    name="ascend-a3",
    title="Atlas A3 (Ascend 910C)",
    image_suffix="-a3",
    first_kv_port=61000,
    family_environment=(("ASCEND_A3_ENABLE", "1"),),
    traits=Traits(
        devices_per_card=2,
        source="vllm-ascend documentation v0.23.0, quick start: a container needs two dies",
    ),
)
"""Below 36000 AscendDirectTransport takes random ports, 1000 to a device (vllm-ascend v0.23.0), from
32768 to 60999 the kernel gives ports to whoever connects (its default), and HCCL listens from 60000
on, one port to a device."""

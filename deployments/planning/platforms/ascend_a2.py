"""Atlas A2: eight devices a host, one to a card."""

from deployments.planning.platforms.ascend import Ascend

ASCEND_A2 = Ascend(
    name="ascend-a2",
    title="Atlas A2 (Ascend 910B)",
    image_suffix="",
    first_kv_port=28000,
)
"""Below 28000 AscendDirectTransport takes random ports, 1000 to a device (vllm-ascend v0.23.0); from
32768 on the kernel gives ports to whoever connects (its default)."""

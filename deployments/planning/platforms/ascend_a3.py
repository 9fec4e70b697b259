"""Atlas A3: sixteen devices a host, two dies to a card."""

from deployments.planning.platforms.ascend import Ascend

ASCEND_A3 = Ascend(
    name="ascend-a3",
    title="Atlas A3 (Ascend 910C)",
    image_suffix="-a3",
    first_kv_port=36000,
    family_environment=(("ASCEND_A3_ENABLE", "1"),),
)
"""Below 36000 AscendDirectTransport takes random ports, 1000 to a device (vllm-ascend v0.23.0)."""

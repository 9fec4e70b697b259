"""Devices of a host when only its platform or a device name is told: counts and memory."""

DEVICES_PER_HOST = {
    "nvidia": 8,
    "amd": 8,
    "ascend-a2": 8,
    "ascend-a3": 16,
    "ascend-950": 8,
    "ascend-310p": 8,
    "cpu": 0,
}
"""Usual counts: HGX and OAM boards; vllm-ascend documentation v0.23.0 (an A3 host has 16 dies, a
300I DUO card two devices)."""

ASCEND_DEVICE_BYTES = 64 << 30
"""HBM of an Atlas A2 device or an A3 die as npu-smi reports it: 65536 MiB."""

ASCEND_950_DEVICE_BYTES = 96 << 30
"""Memory of a 950DT device (vllm-ascend documentation v0.23.0: 96 GB x 8)."""

_GIGABYTES = {
    "a10": 24,
    "a100": 80,
    "b200": 180,
    "b300": 288,
    "gb200": 186,
    "h100": 80,
    "h20": 96,
    "h200": 141,
    "l20": 48,
    "l40s": 48,
    "mi300x": 192,
    "mi308x": 192,
    "mi325x": 256,
    "mi350x": 288,
    "mi355x": 288,
    "rtx 4090": 24,
    "rtx pro 6000": 96,
}


def device_memory(platform: str, device: str | None) -> int | None:
    """Return the memory of one device in bytes by the vendors' data sheets, ``None`` if unknown."""
    if platform.startswith("ascend-a"):
        return ASCEND_DEVICE_BYTES
    if platform == "ascend-950":
        return ASCEND_950_DEVICE_BYTES
    if device is None:
        return None
    gigabytes = _GIGABYTES.get(
        device.lower()
        .removeprefix("nvidia")
        .removeprefix("amd")
        .removeprefix(" instinct")
        .strip(" -")
    )
    return gigabytes * 1_000_000_000 if gigabytes else None

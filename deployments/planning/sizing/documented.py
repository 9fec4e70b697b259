"""Hardware that documents ask for: stronger than any arithmetic."""

from deployments.planning.catalog import Checkpoint, HardwareNeed
from deployments.planning.serving import ServingProfile
from deployments.planning.text import Text, text

GIGABYTE = 1_000_000_000


def unmet_need(
    checkpoint: Checkpoint, platform: str, devices: int, launched: int | None
) -> HardwareNeed | None:
    """Return the documented hardware that so many devices do not reach.

    A need of one host names the machine; a documented launch on ``launched`` of its devices meets it.
    """
    for need in checkpoint.minimum:
        if need.platform != platform:
            continue
        if devices >= need.hosts * need.devices_per_host:
            continue
        if need.hosts > 1 or launched is None or devices < launched:
            return need
    return None


def launched_devices(serving: ServingProfile) -> int | None:
    """Return the devices of the documented launch, ``None`` without one."""
    if serving.tensor_parallel_size is None:
        return None
    return serving.tensor_parallel_size * (serving.data_parallel_size or 1)


def unmet_memory(
    checkpoint: Checkpoint, platform: str, memory_bytes: int | None
) -> int | None:
    """Return the published sum of device memory that is not reached; devices count where documented."""
    needed = checkpoint.memory_minimum_bytes
    if needed is None or memory_bytes is None or memory_bytes >= needed:
        return None
    counted = any(need.platform == platform for need in checkpoint.minimum)
    return None if counted else needed


def shortfall(
    checkpoint: Checkpoint,
    platform: str,
    devices: int,
    launched: int | None,
    memory_bytes: int | None,
) -> Text | None:
    """Say what documents need beyond these devices, ``None`` when nothing."""
    need = unmet_need(checkpoint, platform, devices, launched)
    if need is not None:
        return text(
            "documented on {hosts} hosts with {devices} devices each ({source})",
            hosts=need.hosts,
            devices=need.devices_per_host,
            source=need.source,
        )
    least = unmet_memory(checkpoint, platform, memory_bytes)
    if least is None:
        return None
    return text(
        "published with a need of {needed} GB ({source})",
        needed=least // GIGABYTE,
        source=checkpoint.source,
    )

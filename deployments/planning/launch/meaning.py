"""What a ContainerSpec means, where a rendering could read it two ways."""

from deployments.planning.container import (
    ContainerSpec,
    LogDirectory,
    NetworkMode,
    PortMapping,
)

NANOSECONDS = 1_000_000_000
PROPAGATION = "rprivate"
"""What is mounted below a mount later on, on either side, stays there."""


def environment_of(spec: ContainerSpec) -> tuple[tuple[str, str], ...]:
    """Return the environment with the time zone as ``TZ``, sorted."""
    values = dict(spec.environment)
    if spec.time_zone is not None:
        values["TZ"] = spec.time_zone
    return tuple(sorted(values.items()))


def published_ports(spec: ContainerSpec) -> tuple[PortMapping, ...]:
    """Return the ports to publish: none in the host's network, where they are open already."""
    return () if spec.network_mode is NetworkMode.HOST else spec.ports


def bind_of(directory: LogDirectory) -> str:
    """Return the spelling that makes the directory on the host with every Docker Engine."""
    return f"{directory.source}:{directory.target}:rw"


def image_of(spec: ContainerSpec) -> str:
    """Return the exact image when the plan names it by repository digest, else the reference."""
    reference, digest = spec.image.reference, spec.image.digest
    if digest is None or "@" in reference:
        return reference
    name, colon, tag = reference.rpartition(":")
    return f"{name if colon and '/' not in tag else reference}@{digest}"


def entrypoint_of(spec: ContainerSpec) -> tuple[str, ...]:
    """Return the entrypoint; one empty word clears that of the image (Docker Engine API)."""
    return spec.entrypoint or ("",)


def capability(name: str) -> str:
    """Return the name that every Docker Engine stores, whichever way the plan spells it."""
    return name if name == "ALL" else f"CAP_{name.removeprefix('CAP_')}"

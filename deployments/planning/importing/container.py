"""The container around a launch: image, devices, mounts, ports, and how it was started."""

from dataclasses import dataclass

from deployments.planning.importing.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPort:
    """A port of the host, ``None`` when chosen by Docker, and the one in the container."""

    host: int | None
    container: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What is known of a container from ``docker run`` or a compose file.

    ``entrypoint`` is ``None`` when the image's own is used. ``devices`` are paths on the host,
    ``mounts`` pairs of host and container paths. ``gpus`` is the value of ``--gpus`` or the
    compose reservation, ``None`` when none is asked for.
    """

    image: str | None = None
    name: str | None = None
    entrypoint: tuple[str, ...] | None = None
    devices: tuple[str, ...] = ()
    mounts: tuple[tuple[str, str], ...] = ()
    ports: tuple[PublishedPort, ...] = ()
    gpus: str | None = None
    runtime: str | None = None
    host_network: bool = False
    host_ipc: bool = False
    shm_size: str | None = None
    privileged: bool = False
    compose: bool = False
    start: int = -1
    image_word: Word | None = None


def read_port(text: str) -> tuple[PublishedPort, ...]:
    """Read ``8000``, ``8000:8000``, ``127.0.0.1:8000:8000/tcp`` or a range; () for anything else."""
    parts = text.partition("/")[0].split(":")
    inside = _range(parts[-1])
    if inside is None:
        return ()
    outside = _range(parts[-2]) if len(parts) > 1 else None
    if outside is None or len(outside) != len(inside):
        return tuple(PublishedPort(host=None, container=port) for port in inside)
    return tuple(
        PublishedPort(host=host, container=port)
        for host, port in zip(outside, inside, strict=True)
    )


def _range(text: str) -> list[int] | None:
    first, dash, last = text.partition("-")
    if not first.isascii() or not first.isdigit() or len(first) > 5:
        return None
    if not dash:
        return [int(first)]
    if not last.isascii() or not last.isdigit() or len(last) > 5:
        return None
    if not 0 <= int(last) - int(first) < 256:
        return None
    return list(range(int(first), int(last) + 1))


def read_mount(text: str) -> tuple[str, str] | None:
    """Read ``/host:/container[:ro]``; ``None`` for a volume without a path."""
    parts = text.split(":")
    if len(parts) < 2 or not parts[1].startswith("/"):
        return None
    return parts[0], parts[1]

"""Which accelerators the running containers of a host hold, from their inspection."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import list_containers
from deployments.docker_api.errors import NotFoundError
from deployments.docker_api.reading import as_object, objects, string, texts
from deployments.planning.text import text

MOST_CONTAINERS = 500
_NODE = re.compile(r"/dev/(?:davinci|nvidia)(\d+)")
_NODES = frozenset({"/dev", "/dev/dri", "/dev/kfd"})
_VISIBLE = ("NVIDIA_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES")
_NOTHING = frozenset({"", "void", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDevices:
    """Numbers of devices that containers hold, and names of containers that may hold any of them.

    Such are privileged ones, and those that ask for all devices or name them in another way.
    """

    numbers: frozenset[int] = frozenset()
    unclear: tuple[str, ...] = ()


def held_devices(engine: Engine) -> HeldDevices:
    """Inspect every running container of the host.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    numbers: set[int] = set()
    unclear: list[str] = []
    running = [one for one in list_containers(engine) if one.running]
    for one in running[:MOST_CONTAINERS]:
        found = _held_by(engine, one.container_id, one.name)
        if found is None:
            unclear.append(one.name)
        else:
            numbers |= found
    unclear += [one.name for one in running[MOST_CONTAINERS:]]
    return HeldDevices(numbers=frozenset(numbers), unclear=tuple(unclear))


def held_in(row: Mapping[str, Json]) -> frozenset[int] | None:
    """The devices that an inspected container holds; ``None`` where it may hold any."""
    settings = as_object(row.get("HostConfig"))
    if settings.get("Privileged"):
        return None
    numbers: set[int] = set()
    for path in _nodes(settings):
        node = _NODE.fullmatch(path)
        if node is not None:
            numbers.add(int(node[1]))
        elif path in _NODES:
            return None
    for asked in _asked(row, settings):
        if asked is None:
            return None
        numbers |= asked
    return frozenset(numbers)


def _held_by(engine: Engine, container_id: str, name: str) -> frozenset[int] | None:
    act = text("describe the container {container}", container=name)
    try:
        row = engine.call("GET", f"/containers/{container_id}/json", act=act)
    except NotFoundError:
        return frozenset()
    return held_in(as_object(row))


def _nodes(settings: Mapping[str, Json]) -> Iterator[str]:
    for device in objects(settings.get("Devices")):
        yield string(device, "PathOnHost")
    for mount in objects(settings.get("Mounts")):
        yield string(mount, "Source")
    for bind in texts(settings, "Binds"):
        yield bind.partition(":")[0]


def _asked(
    row: Mapping[str, Json], settings: Mapping[str, Json]
) -> Iterator[set[int] | None]:
    """What is asked of a driver or of the hook of a runtime; ``None`` for all or unreadable."""
    requests = objects(settings.get("DeviceRequests"))
    for request in requests:
        identities = texts(request, "DeviceIDs")
        yield _numbers(",".join(identities)) if identities else None
    if requests or string(settings, "Runtime") in {"", "runc"}:
        return
    for line in texts(as_object(row.get("Config")), "Env"):
        name, _equals, value = line.partition("=")
        if name in _VISIBLE and value.lower() not in _NOTHING:
            yield _numbers(value)


def _numbers(words: str) -> set[int] | None:
    """``0,2`` or ``0-3``; ``None`` for ``all``, identities and parts of devices."""
    found: set[int] = set()
    for part in words.split(","):
        ends = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", part.strip())
        if ends is None:
            return None
        found.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return found

"""The floor under every container, checked on the very body that is sent to the engine.

Whitelist: a key that is not named here is refused, so that a new way out of a container must be
added on purpose. Size limits are the panel's own, since the engine takes names of 300 characters
and environments of megabytes.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue as Json

from deployments.docker_api.errors import PolicyError
from deployments.planning.text import Text, listed, text

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
VOLUME = re.compile(r"draftboard-[a-z0-9][a-z0-9-]{0,100}")
DEVICE = re.compile(
    r"/dev/(davinci(_manager|\d{1,2})|devmm_svm|hisi_hdc|ummu|uburma|ascend_manager|"
    r"user_config|kfd|dri(/(card|renderD)\d{1,3})?|mem_units)"
)
BIND_TARGET = re.compile(r"(/[A-Za-z0-9._-]+)+:rw")
CAPABILITIES = frozenset({"DAC_OVERRIDE", "IPC_LOCK", "SYS_NICE", "SYS_PTRACE"})
SECURITY_OPTIONS = frozenset(
    {"no-new-privileges", "no-new-privileges:true", "seccomp=unconfined"}
)
RUNTIMES = frozenset({"", "runc", "nvidia", "ascend"})
NETWORKS = frozenset({"bridge", "default", "host", "none"})
IPC_MODES = frozenset({"", "private", "none"})
LOG_DRIVERS = frozenset({"json-file", "local"})
CLOSED_ROOTS = (
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/var/run",
    "/boot",
    "/root",
    "/var/lib",
)
LONGEST_LABEL = 4 * 1024
LONGEST_ENVIRONMENT = 32 * 1024
LONGEST_ARGUMENT = 8 * 1024
LONGEST_COMMAND = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPolicy:
    """What the host's cluster and platform allow beyond the floor.

    ``mount_roots`` are directories to mount from, ``log_roots`` those in which containers may have
    writable directories that the engine makes.
    """

    mount_roots: tuple[str, ...] = ()
    log_roots: tuple[str, ...] = ()


def check_container(
    name: str, body: Mapping[str, Json], policy: ContainerPolicy
) -> None:
    """Prove that the body stays above the floor.

    Raises:
        PolicyError: the first thing that does not, with its value.
    """
    problem = next(_problems(name, body, policy), None)
    if problem is not None:
        raise PolicyError(
            text(
                "The container {name} was not created, since {problem}. Plan the revision again.",
                name=name,
                problem=problem,
            )
        )


def _problems(
    name: str, body: Mapping[str, Json], policy: ContainerPolicy
) -> Iterator[Text]:
    if not NAME.fullmatch(name):
        yield text(
            "its name is not 1 to 63 of a-z, 0-9, point, dash and underscore: {name}",
            name=repr(name[:80]),
        )
    yield from _unknown(body, _BODY)
    host_config = body.get("HostConfig")
    if not isinstance(host_config, dict):
        yield text("it has no host configuration")
        return
    yield from _unknown(host_config, _HOST_CONFIG)
    yield from _sizes(body)
    yield from _floor(host_config)
    for mount in _objects(host_config, "Mounts"):
        yield from _mount(mount, policy)
    for bind in _strings(host_config, "Binds"):
        yield from _bind(bind, policy)
    yield from _ports(host_config)


def _unknown(
    values: Mapping[str, Json], known: Mapping[str, Callable[[Json], bool]]
) -> Iterator[Text]:
    for key, value in values.items():
        if key not in known:
            if value not in (None, "", False, 0, [], {}):
                yield text("{key} is not among what the panel sets", key=key)
        elif not known[key](value):
            yield text(
                "{key} may not be {value}", key=key, value=repr(str(value)[:200])
            )


def _anything(_value: Json) -> bool:
    return True


def _one_of(allowed: frozenset[str]) -> Callable[[Json], bool]:
    return lambda value: value is None or value in allowed


def _capabilities(value: Json) -> bool:
    """Docker takes names with and without their prefix."""
    return value is None or (
        isinstance(value, list)
        and all(str(name).removeprefix("CAP_") in CAPABILITIES for name in value)
    )


def _false(value: Json) -> bool:
    return not value


def _devices(value: Json) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(
            isinstance(device, dict)
            and DEVICE.fullmatch(str(device.get("PathOnHost"))) is not None
            and device.get("PathInContainer") == device.get("PathOnHost")
            for device in value
        )
    )


def _device_requests(value: Json) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(
            isinstance(request, dict)
            and request.get("Driver") in {"nvidia", "cdi"}
            and bool(request.get("DeviceIDs"))
            and not request.get("Count")
            for request in value
        )
    )


def _log_config(value: Json) -> bool:
    if not isinstance(value, dict) or value.get("Type") not in LOG_DRIVERS:
        return False
    options = value.get("Config")
    return isinstance(options, dict) and {"max-size", "max-file"} <= set(options)


def _pids(value: Json) -> bool:
    return isinstance(value, int) and 0 < value <= 1 << 22


_BODY: dict[str, Callable[[Json], bool]] = {
    **dict.fromkeys(
        (
            "Image", "Cmd", "Entrypoint", "Env", "Labels", "User", "ExposedPorts",
            "Healthcheck", "StopSignal", "StopTimeout", "HostConfig", "Hostname", "WorkingDir",
        ),
        _anything,
    ),
    **dict.fromkeys(
        ("Tty", "OpenStdin", "AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce"),
        _false,
    ),
}  # fmt: skip
_HOST_CONFIG: dict[str, Callable[[Json], bool]] = {
    **dict.fromkeys(
        (
            "Mounts", "PortBindings", "GroupAdd", "ShmSize", "Ulimits", "Init", "Memory",
            "RestartPolicy", "CpusetCpus",
        ),
        _anything,
    ),
    "Binds": lambda value: isinstance(value, list),
    "CapAdd": _capabilities,
    "CapDrop": lambda value: isinstance(value, list) and "ALL" in value,
    "SecurityOpt": lambda value: (
        isinstance(value, list) and SECURITY_OPTIONS.issuperset(map(str, value))
    ),
    "NetworkMode": _one_of(NETWORKS),
    "IpcMode": _one_of(IPC_MODES),
    "Runtime": _one_of(RUNTIMES),
    "Devices": _devices,
    "DeviceRequests": _device_requests,
    "LogConfig": _log_config,
    "PidsLimit": _pids,
}  # fmt: skip


def _floor(host_config: Mapping[str, Json]) -> Iterator[Text]:
    """What must be there, not only what must be absent."""
    options = host_config.get("SecurityOpt")
    if not isinstance(options, list) or not any(
        str(option).startswith("no-new-privileges") for option in options
    ):
        yield text("it could gain privileges (no-new-privileges is missing)")
    for needed, why in (
        ("CapDrop", text("it keeps the engine's default capabilities")),
        ("PidsLimit", text("it has no limit on processes")),
        ("LogConfig", text("its log would grow without limit")),
    ):
        if needed not in host_config:
            yield why


def _sizes(body: Mapping[str, Json]) -> Iterator[Text]:
    command = [*_strings(body, "Entrypoint"), *_strings(body, "Cmd")]
    if any(len(argument) > LONGEST_ARGUMENT for argument in command):
        yield text("an argument is longer than 8 kB")
    if sum(map(len, command)) > LONGEST_COMMAND:
        yield text("its command is longer than 64 kB")
    if sum(map(len, _strings(body, "Env"))) > LONGEST_ENVIRONMENT:
        yield text("its environment is larger than 32 kB")
    labels = body.get("Labels")
    if isinstance(labels, dict) and any(
        len(key) + len(str(value)) > LONGEST_LABEL for key, value in labels.items()
    ):
        yield text("a label is longer than 4 kB")


def _mount(mount: Mapping[str, Json], policy: ContainerPolicy) -> Iterator[Text]:
    source = str(mount.get("Source"))
    if _is_own_volume(mount, source):
        return
    if mount.get("Type") != "bind":
        yield text(
            "it mounts a {kind}, not a directory of the host",
            kind=str(mount.get("Type")),
        )
    elif not _inside(source, policy.mount_roots) or _inside(source, CLOSED_ROOTS):
        yield (
            text(
                "{source} is not inside a directory that the cluster allows ({roots})",
                source=source,
                roots=listed(policy.mount_roots) or text("none"),
            )
        )
    elif source.endswith(".sock"):
        yield text("{source} is a socket", source=source)


def _bind(bind: str, policy: ContainerPolicy) -> Iterator[Text]:
    """A bind in the short form, which the engine makes when it is missing: below a log root only."""
    source, _colon, rest = bind.partition(":")
    below = any(
        source != root and _inside(source, (root,)) for root in policy.log_roots
    )
    if (
        not below
        or _inside(source, CLOSED_ROOTS)
        or BIND_TARGET.fullmatch(rest) is None
    ):
        yield text(
            "Binds may not hold {bind}, which is no directory of log files below {roots}",
            bind=repr(bind[:200]),
            roots=", ".join(policy.log_roots) or text("none"),
        )


def _is_own_volume(mount: Mapping[str, Json], source: str) -> bool:
    """Whether it is a volume of the panel's own, of the engine's default driver."""
    return (
        mount.get("Type") == "volume"
        and VOLUME.fullmatch(source) is not None
        and mount.keys() <= {"Type", "Source", "Target", "ReadOnly"}
    )


def _inside(path: str, roots: tuple[str, ...]) -> bool:
    """Whether the plain absolute path is one of the roots or below one."""
    if not path.startswith("/") or posixpath.normpath(path) != path or path == "/":
        return False
    return any(
        path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots
    )


def _ports(host_config: Mapping[str, Json]) -> Iterator[Text]:
    bindings = host_config.get("PortBindings")
    if not isinstance(bindings, dict):
        return
    for port, published in bindings.items():
        for binding in published if isinstance(published, list) else []:
            if not isinstance(binding, dict) or not binding.get("HostIp"):
                yield text(
                    "its port {port} is published without a named address", port=port
                )


def _objects(values: Mapping[str, Json], key: str) -> list[dict[str, Json]]:
    found = values.get(key)
    return (
        [item for item in found or [] if isinstance(item, dict)]
        if isinstance(found, list)
        else []
    )


def _strings(values: Mapping[str, Json], key: str) -> list[str]:
    found = values.get(key)
    return [str(item) for item in found] if isinstance(found, list) else []

"""A docker-compose file for the replicas of one host."""

from collections.abc import Sequence

from deployments.planning.canonical import Json
from deployments.planning.container import ContainerSpec, HealthCheck
from deployments.planning.launch.meaning import (
    PROPAGATION,
    capability,
    entrypoint_of,
    environment_of,
    image_of,
    published_ports,
)
from deployments.planning.launch.yaml_text import yaml_text
from deployments.planning.variables import KEY_IN_FILES, VARIABLE


def compose_file(specs: Sequence[ContainerSpec]) -> str:
    """Write the file: every string double-quoted, every ``$`` that is no variable doubled."""
    return yaml_text(compose_document(specs))


def compose_document(specs: Sequence[ContainerSpec]) -> dict[str, Json]:
    """Return the file as values, ``$`` doubled."""
    document: dict[str, Json] = {
        "services": {
            spec.name: _with_secrets(_escaped(_service(spec)), spec) for spec in specs
        }
    }
    names = sorted({one.name for spec in specs for one in spec.volumes})
    if names:
        document["volumes"] = {name: {"name": name} for name in names}
    return document


def _service(spec: ContainerSpec) -> dict[str, Json]:
    service: dict[str, Json] = {
        "container_name": spec.name,
        "image": image_of(spec),
        "entrypoint": list(entrypoint_of(spec)),
        "command": list(spec.command),
        "environment": dict(environment_of(spec)),
        "labels": dict(spec.labels),
        "network_mode": spec.network_mode.value,
        "restart": spec.restart,
        "init": spec.init,
        "ipc": spec.ipc_mode,
        "shm_size": spec.shm_size_bytes,
        "pids_limit": spec.pids_limit,
        "cap_drop": [capability(name) for name in spec.cap_drop],
        "cap_add": [capability(name) for name in spec.cap_add],
        "security_opt": list(spec.security_opt),
        "group_add": list(spec.group_add),
        "stop_grace_period": f"{spec.stop_grace_s}s",
        "volumes": _volumes(spec),
        "devices": [
            f"{node.host_path}:{node.container_path}:{node.permissions}"
            for node in spec.devices
        ],
        "ports": _ports(spec),
        "logging": {
            "driver": spec.logging.driver,
            "options": {
                "max-size": spec.logging.max_size,
                "max-file": str(spec.logging.max_file),
            },
        },
    }
    service = {key: value for key, value in service.items() if value not in ([], {})}
    return service | _optional(spec)


def _with_secrets(service: dict[str, Json], spec: ContainerSpec) -> dict[str, Json]:
    """Add the variables whose values the file only asks for."""
    environment = service.get("environment")
    if spec.secrets:
        asked: dict[str, Json] = {
            one.variable: f"${{{KEY_IN_FILES}:?Set {KEY_IN_FILES} in .env}}"
            for one in spec.secrets
        }
        given = environment if isinstance(environment, dict) else {}
        service["environment"] = {**given, **asked}
    return service


def _optional(spec: ContainerSpec) -> dict[str, Json]:
    more: dict[str, Json] = {}
    if spec.user is not None:
        more["user"] = spec.user
    if spec.runtime is not None:
        more["runtime"] = spec.runtime
    if spec.memory_lock:
        more["ulimits"] = {"memlock": {"soft": -1, "hard": -1}}
    if spec.device_requests:
        more["deploy"] = {"resources": {"reservations": {"devices": _requests(spec)}}}
    if spec.health_check is not None:
        more["healthcheck"] = _health_check(spec.health_check)
    return more


def _volumes(spec: ContainerSpec) -> list[Json]:
    binds: list[Json] = [
        {
            "type": "bind",
            "source": mount.source,
            "target": mount.target,
            "read_only": mount.read_only,
            "bind": {"create_host_path": False, "propagation": PROPAGATION},
        }
        for mount in spec.mounts
    ]
    named: list[Json] = [
        {"type": "volume", "source": one.name, "target": one.target}
        for one in spec.volumes
    ]
    made: list[Json] = [
        {
            "type": "bind",
            "source": one.source,
            "target": one.target,
            "bind": {"create_host_path": True},
        }
        for one in spec.log_directories
    ]
    return binds + named + made


def _ports(spec: ContainerSpec) -> list[Json]:
    return [
        {
            "target": port.container,
            "published": str(port.host),
            "host_ip": port.host_address,
            "protocol": "tcp",
            "mode": "host",
        }
        for port in published_ports(spec)
    ]


def _requests(spec: ContainerSpec) -> list[Json]:
    return [
        {
            "driver": request.driver,
            "device_ids": list(request.device_ids),
            "capabilities": list(request.capabilities),
        }
        for request in spec.device_requests
    ]


def _health_check(check: HealthCheck) -> dict[str, Json]:
    return {
        "test": list(check.test),
        "interval": f"{check.interval_s}s",
        "timeout": f"{check.timeout_s}s",
        "retries": check.retries,
        "start_period": f"{check.start_period_s}s",
    }


def _escaped(value: dict[str, Json]) -> dict[str, Json]:
    return {key: _escape(item) for key, item in value.items()}


def _escape(value: Json) -> Json:
    if isinstance(value, str):
        return _doubled(value)
    if isinstance(value, list):
        return [_escape(item) for item in value]
    if isinstance(value, dict):
        return _escaped(value)
    return value


def _doubled(text: str) -> str:
    parts: list[str] = []
    end = 0
    for match in VARIABLE.finditer(text):
        parts.append(text[end : match.start()].replace("$", "$$"))
        parts.append(match.group())
        end = match.end()
    return "".join((*parts, text[end:].replace("$", "$$")))

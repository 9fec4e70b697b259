"""The body of the Docker Engine API's ``POST /containers/create``."""

from collections.abc import Mapping

from deployments.planning.canonical import Json
from deployments.planning.container import ContainerSpec, HealthCheck
from deployments.planning.launch.meaning import (
    NANOSECONDS,
    PROPAGATION,
    bind_of,
    capability,
    entrypoint_of,
    environment_of,
    image_of,
    published_ports,
)


def create_body(
    spec: ContainerSpec,
    labels: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """Return the exact body; ``labels`` are added to those of the plan (the executor's own).

    ``secrets`` are the values of the plan's secret variables, by variable.
    Binds are used for log directories only: a Mount fails when its source is missing instead of
    making an empty directory. Checked against the Engine API 1.41 and later.
    """
    named = {**dict(spec.labels), **(labels or {})}
    body: dict[str, Json] = {
        "Image": spec.image.image_id
        if spec.image.digest is None and spec.image.image_id
        else image_of(spec),
        "Entrypoint": list(entrypoint_of(spec)),
        "Cmd": list(spec.command),
        "Env": [
            f"{name}={value}"
            for name, value in (*environment_of(spec), *(secrets or {}).items())
        ],
        "Labels": dict(sorted(named.items())),
        "ExposedPorts": {f"{port.container}/tcp": {} for port in published_ports(spec)},
        "StopTimeout": spec.stop_grace_s,
        "HostConfig": _host_config(spec),
    }
    if spec.user is not None:
        body["User"] = spec.user
    if spec.health_check is not None:
        body["Healthcheck"] = _health_check(spec.health_check)
    return body


def _host_config(spec: ContainerSpec) -> dict[str, Json]:
    config: dict[str, Json] = {
        "NetworkMode": spec.network_mode.value,
        "IpcMode": spec.ipc_mode,
        "CapDrop": [capability(name) for name in spec.cap_drop],
        "CapAdd": [capability(name) for name in spec.cap_add],
        "SecurityOpt": list(spec.security_opt),
        "GroupAdd": list(spec.group_add),
        "PidsLimit": spec.pids_limit,
        "ShmSize": spec.shm_size_bytes,
        "Init": spec.init,
        "Privileged": False,
        "PublishAllPorts": False,
        "AutoRemove": False,
        "RestartPolicy": {"Name": spec.restart},
        "Mounts": _mounts(spec),
        "Binds": [bind_of(one) for one in spec.log_directories],
        "Devices": [
            {
                "PathOnHost": node.host_path,
                "PathInContainer": node.container_path,
                "CgroupPermissions": node.permissions,
            }
            for node in spec.devices
        ],
        "DeviceRequests": [
            {
                "Driver": request.driver,
                "DeviceIDs": list(request.device_ids),
                "Capabilities": [list(request.capabilities)],
            }
            for request in spec.device_requests
        ],
        "PortBindings": {
            f"{port.container}/tcp": [
                {"HostIp": port.host_address, "HostPort": str(port.host)}
            ]
            for port in published_ports(spec)
        },
        "Ulimits": [{"Name": "memlock", "Soft": -1, "Hard": -1}]
        if spec.memory_lock
        else [],
        "LogConfig": {
            "Type": spec.logging.driver,
            "Config": {
                "max-size": spec.logging.max_size,
                "max-file": str(spec.logging.max_file),
            },
        },
    }
    if spec.runtime is not None:
        config["Runtime"] = spec.runtime
    return config


def _mounts(spec: ContainerSpec) -> list[Json]:
    binds: list[Json] = [
        {
            "Type": "bind",
            "Source": mount.source,
            "Target": mount.target,
            "ReadOnly": mount.read_only,
            "BindOptions": {"CreateMountpoint": False, "Propagation": PROPAGATION},
        }
        for mount in spec.mounts
    ]
    named: list[Json] = [
        {"Type": "volume", "Source": one.name, "Target": one.target}
        for one in spec.volumes
    ]
    return binds + named


def _health_check(check: HealthCheck) -> dict[str, Json]:
    return {
        "Test": list(check.test),
        "Interval": check.interval_s * NANOSECONDS,
        "Timeout": check.timeout_s * NANOSECONDS,
        "Retries": check.retries,
        "StartPeriod": check.start_period_s * NANOSECONDS,
    }

"""The ContainerSpec of a replica: image, command, mounts, environment, health check, labels."""

import hashlib
import re
from dataclasses import dataclass

from deployments.planning.container import (
    ContainerSpec,
    HealthCheck,
    ImageReference,
    LogDirectory,
    Mount,
    PortMapping,
    Volume,
)
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.endpoint_key import ENGINE_VARIABLE, key_variables
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Role, RoleMemory
from deployments.planning.platforms.cpu import cpu_environment
from deployments.planning.platforms.images import resolve, rewrite
from deployments.planning.platforms.platform import ContainerNeeds, Placement
from deployments.planning.plogs import PLOG_ENVIRONMENT, PRUNE, plog_directory
from deployments.planning.readiness import READY_TIMEOUT, ready_deadline
from deployments.planning.serve_command import Seat, serve_command
from deployments.planning.sizes import MODELS_IN_CONTAINER, drafter_path
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.variables import address_of, interface_of, model_root_of

LONGEST_NAME = 63
CACHE = "/var/cache/draftboard"
PYTHON_PROBE = (
    "import urllib.request as u; u.urlopen('http://127.0.0.1:{port}/health', timeout=4)"
)


def container_name(deployment: str, revision: int, role: Role, rank: int) -> str:
    """Derive a name of at most 63 characters; a longer one ends in a digest of the whole."""
    slug = re.sub(r"[^a-z0-9]+", "-", deployment.lower()).strip("-") or "deployment"
    tail = f"-r{revision}-{role.value}-{rank}"
    if len(slug) + len(tail) > LONGEST_NAME:
        mark = hashlib.sha256(deployment.encode()).hexdigest()[:8]
        slug = f"{slug[: LONGEST_NAME - len(tail) - 9].rstrip('-')}-{mark}"
    return slug + tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What was settled for one container: its role, place, platform's needs, seat, ports, rank."""

    settings: RoleSettings
    placement: Placement
    needs: ContainerNeeds
    seat: Seat
    ports: tuple[PortMapping, ...]
    rank: int


def container_for(context: PlanContext, parts: Parts) -> ContainerSpec:
    """Put the container of one replica together."""
    spec, needs, settings = context.spec, parts.needs, parts.settings
    host = parts.placement.host
    wanted = spec.image or context.platform.image(
        context.profile.version, host.architecture
    )
    documented_shm = (
        None if context.practice else settings.layout.serving.shm_size_bytes
    )
    image = resolve(rewrite(wanted, context.settings), host)
    asks = parts.seat.api_port is not None
    return ContainerSpec(
        name=container_name(spec.name, spec.number, settings.role, parts.rank),
        image=image,
        volumes=_volumes(context, image),
        log_directories=_log_directories(context, parts),
        secrets=key_variables(context, ENGINE_VARIABLE) if asks else (),
        command=serve_command(context, settings, parts.seat),
        environment=_environment(context, parts),
        mounts=_mounts(context, needs, host),
        devices=needs.devices,
        device_requests=needs.device_requests,
        cap_add=needs.cap_add,
        group_add=needs.group_add,
        entrypoint=_entrypoint(context, needs),
        network_mode=needs.network_mode,
        ports=parts.ports,
        shm_size_bytes=documented_shm or needs.shm_size_bytes,
        memory_lock=needs.memory_lock,
        health_check=_health_check(context, settings, parts.seat),
        time_zone=context.settings.time_zone,
        labels=(
            ("draftboard.deployment", spec.name),
            ("draftboard.rank", str(parts.rank)),
            ("draftboard.revision", str(spec.number)),
            ("draftboard.role", settings.role.value),
        ),
    )


def _entrypoint(context: PlanContext, needs: ContainerNeeds) -> tuple[str, ...]:
    """Clear that of the image; on Ascend delete old logs, set the library path, run the command."""
    if context.profile.engine != VLLM_ASCEND or context.practice:
        return ()
    run = 'exec "$@"'
    if needs.library_path is not None:
        run = f'LD_LIBRARY_PATH="${{LD_LIBRARY_PATH:-}}:{needs.library_path}" {run}'
    return ("sh", "-c", f"{PRUNE}; {run}", "sh")


def _mounts(
    context: PlanContext, needs: ContainerNeeds, host: HostSnapshot
) -> tuple[Mount, ...]:
    if context.practice:
        return ()
    root = model_root_of(host)
    directories = {context.checkpoint.directory}
    path = drafter_path(context)
    if path is not None:
        directories.add(path.removeprefix(f"{MODELS_IN_CONTAINER}/"))
    weights = tuple(
        Mount(source=f"{root}/{name}", target=f"{MODELS_IN_CONTAINER}/{name}")
        for name in sorted(directories)
    )
    return weights + needs.mounts


def _volumes(context: PlanContext, image: ImageReference) -> tuple[Volume, ...]:
    """A cache for each exact image, shared on its host.

    Graphs and kernels of another image, or of one that is only known by its tag, never meet.
    """
    if context.practice:
        return ()
    exact = image.digest or image.image_id or image.reference
    mark = hashlib.sha256(exact.encode()).hexdigest()[:16]
    return (Volume(name=f"draftboard-cache-{mark}", target=CACHE),)


def _log_directories(context: PlanContext, parts: Parts) -> tuple[LogDirectory, ...]:
    if context.practice or context.profile.engine != VLLM_ASCEND:
        return ()
    name = container_name(context.spec.name, 0, parts.settings.role, parts.rank)
    return (plog_directory(context.settings.log_root, name),)


def _environment(context: PlanContext, parts: Parts) -> tuple[tuple[str, str], ...]:
    placement = parts.placement
    if context.practice:
        return tuple(sorted(context.spec.environment))
    values = {
        "HF_HUB_OFFLINE": "1",
        "TRITON_CACHE_DIR": f"{CACHE}/triton",
        "VLLM_CACHE_ROOT": f"{CACHE}/vllm",
    }
    if context.profile.engine == VLLM_ASCEND:
        values |= PLOG_ENVIRONMENT
    if placement.spans_hosts:
        values["VLLM_HOST_IP"] = address_of(placement.host)
    if context.profile.engine != VLLM_ASCEND and placement.spans_hosts:
        values |= _fabric(placement.host, parts.seat)
    if context.platform.name == "cpu":
        values |= cpu_environment(_memory(context, parts.settings))
    values |= parts.settings.layout.serving.environment
    values |= dict(context.spec.environment)
    values |= dict(parts.needs.environment)
    values[READY_TIMEOUT] = str(ready_deadline(context, parts.settings))
    return tuple(sorted(values.items()))


def _memory(context: PlanContext, settings: RoleSettings) -> RoleMemory | None:
    return next((one for one in context.memory if one.role is settings.role), None)


def _fabric(host: HostSnapshot, seat: Seat) -> dict[str, str]:
    values = {
        "GLOO_SOCKET_IFNAME": interface_of(host),
        "NCCL_SOCKET_IFNAME": interface_of(host),
    }
    if seat.endpoint is not None:
        values["VLLM_NIXL_SIDE_CHANNEL_HOST"] = address_of(host)
        values["VLLM_NIXL_SIDE_CHANNEL_PORT"] = str(seat.endpoint.port)
    return values


def _health_check(
    context: PlanContext, settings: RoleSettings, seat: Seat
) -> HealthCheck | None:
    if seat.api_port is None:
        return None
    return HealthCheck(
        test=_probe(context, seat.api_port),
        start_period_s=ready_deadline(context, settings),
    )


def _probe(context: PlanContext, port: int) -> tuple[str, ...]:
    if context.profile.engine == VLLM_ASCEND and not context.practice:
        return ("CMD", "python3", "-c", PYTHON_PROBE.format(port=port))
    return ("CMD", "curl", "-fsS", "-o", "/dev/null", f"http://127.0.0.1:{port}/health")

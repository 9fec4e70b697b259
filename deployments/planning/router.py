"""The router of prefill and decode apart: the program in front of both, as a replica of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deployments.planning.container import (
    ContainerSpec,
    HealthCheck,
    NetworkMode,
    PortMapping,
)
from deployments.planning.containers import PYTHON_PROBE, container_name
from deployments.planning.context import PlanContext
from deployments.planning.endpoint_key import PROXY_VARIABLE, key_variables
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.placement import HostBook
from deployments.planning.plan import HEALTH_PATH, PlannedReplica, Role
from deployments.planning.platforms.images import resolve, rewrite
from deployments.planning.platforms.platform import Beyond
from deployments.planning.serve_command import served_name
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import text
from deployments.planning.transfer import LAYERWISE, connector_of
from deployments.planning.variables import address_behind, address_of

FIRST_PORT = 8000
READY_DEADLINE_S = 120
SHM_BYTES = 64 << 20
ROUTER_IMAGE = "vllm/vllm-router:v0.1.16"
ROUTER_SOURCE = "vLLM 0.32.0 documentation, vllm-router; vllm-project/router, command line and image of 0.1.16"
ASCEND_EXAMPLES = "/vllm-workspace/vllm-ascend/examples/disaggregated_prefill_v1"
ASCEND_SOURCE = "vllm-ascend documentation v0.23.0, prefill/decode disaggregation"
PROXY = "load_balance_proxy_server_example.py"
LAYERWISE_PROXY = "load_balance_proxy_layerwise_server_example.py"
NAMES_OF_CONNECTORS = {
    "MooncakeConnector": "mooncake",
    "MoRIIOConnector": "moriio",
}
"""What vllm-router calls a connector; NIXL is ``nixl``."""
LAYERWISE_NETWORK = Beyond(
    what=text("host network"),
    why=text(
        "Decode calls the layerwise proxy back at the address it is told, which must be the "
        "host's own."
    ),
    source=ASCEND_SOURCE,
)
PRACTICE_NETWORK = Beyond(
    what=text("host network"),
    why=text(
        "The practice router calls prefill and decode on the loopback address of its host, so that "
        "it works where nobody has entered an address."
    ),
    source=text("this panel"),
)
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backend:
    address: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    image: str
    command: tuple[str, ...]
    probe: tuple[str, ...]
    health_path: str
    lists_models: bool
    network_mode: NetworkMode = NetworkMode.BRIDGE
    key_variable: str | None = None


def router_for(
    context: PlanContext, books: dict[str, HostBook], replicas: Sequence[PlannedReplica]
) -> PlannedReplica | None:
    """Return the router on the first decode host; ``None`` where the roles are not apart."""
    decode = context.role(Role.DECODE)
    if decode is None:
        return None
    heads = [one for one in replicas if one.health_port is not None]
    if not any(one.role is Role.DECODE for one in heads):
        return None
    book = books[decode.layout.hosts[0].name]
    port = book.take_ports(FIRST_PORT)
    backends = {
        role: _backends(context, heads, role, book.host)
        for role in (Role.PREFILL, Role.DECODE)
    }
    if context.practice:
        program = _practice(context, port, backends)
    elif context.profile.engine == VLLM_ASCEND:
        program = _ascend(context, book.host, port, backends)
    else:
        program = _vllm(connector_of(context, decode), port, backends)
    return _replica(context, book.host, port, program)


def network_of_router(context: PlanContext) -> Beyond | None:
    """What the router gets beyond the floor: the host's network where it must have that."""
    if context.practice and context.role(Role.DECODE) is not None:
        return PRACTICE_NETWORK
    return LAYERWISE_NETWORK if is_layerwise(context) else None


def is_layerwise(context: PlanContext) -> bool:
    """Whether the deployment's router is the layerwise proxy, which joins the host's network."""
    decode = context.role(Role.DECODE)
    return (
        decode is not None
        and not context.practice
        and connector_of(context, decode) == LAYERWISE
    )


def _backends(
    context: PlanContext,
    heads: Sequence[PlannedReplica],
    role: Role,
    router: HostSnapshot,
) -> list[_Backend]:
    by_name = {host.name: host for host in context.hosts}
    chosen = [one for one in heads if one.role is role]
    return [
        _Backend(
            address=LOOPBACK
            if context.practice and one.host == router.name
            else address_behind(by_name[one.host], role, number, router=router),
            port=one.health_port or 0,
        )
        for number, one in enumerate(chosen)
    ]


def _vllm(
    connector: str | None, port: int, backends: dict[Role, list[_Backend]]
) -> _Program:
    words = ["vllm-router", "--policy", "round_robin", "--vllm-pd-disaggregation"]
    words += ["--kv-connector", NAMES_OF_CONNECTORS.get(connector or "", "nixl")]
    for role, several in backends.items():
        for one in several:
            words += [f"--{role.value}", one.url]
    return _Program(
        image=ROUTER_IMAGE,
        command=(*words, "--host", "0.0.0.0", "--port", str(port)),  # noqa: S104 - in the container
        probe=("CMD", "curl", "-fsS", "-o", "/dev/null", _here(port, HEALTH_PATH)),
        health_path=HEALTH_PATH,
        lists_models=True,
    )


def _practice(
    context: PlanContext, port: int, backends: dict[Role, list[_Backend]]
) -> _Program:
    """The stand-in for vllm-router in the practice image, which needs nobody to know an address."""
    usual = _vllm(None, port, backends)
    return replace(
        usual,
        image=context.spec.image or usual.image,
        network_mode=NetworkMode.HOST,
        lists_models=True,
    )


def _ascend(
    context: PlanContext,
    host: HostSnapshot,
    port: int,
    backends: dict[Role, list[_Backend]],
) -> _Program:
    layerwise = is_layerwise(context)
    script = LAYERWISE_PROXY if layerwise else PROXY
    listen = address_of(host) if layerwise else "0.0.0.0"  # noqa: S104 - in the container
    words = ["python3", f"{ASCEND_EXAMPLES}/{script}", "--host", listen]
    words += ["--port", str(port)]
    for name, role in (("prefiller", Role.PREFILL), ("decoder", Role.DECODE)):
        words += [f"--{name}-hosts", *(one.address for one in backends[role])]
        words += [f"--{name}-ports", *(str(one.port) for one in backends[role])]
    path = "/healthcheck"
    probe = PYTHON_PROBE.format(port=port).replace(HEALTH_PATH, path)
    if layerwise:
        probe = probe.replace("127.0.0.1", listen)
    return _Program(
        image=context.spec.image
        or context.platform.image(context.profile.version, host.architecture),
        command=tuple(words),
        probe=("CMD", "python3", "-c", probe),
        health_path=path,
        lists_models=not layerwise,
        network_mode=NetworkMode.HOST if layerwise else NetworkMode.BRIDGE,
        key_variable=PROXY_VARIABLE,
    )


def _here(port: int, path: str) -> str:
    return f"http://127.0.0.1:{port}{path}"


def _replica(
    context: PlanContext, host: HostSnapshot, port: int, program: _Program
) -> PlannedReplica:
    spec = context.spec
    return PlannedReplica(
        role=Role.ROUTER,
        rank=0,
        host=host.name,
        devices=(),
        container=ContainerSpec(
            name=container_name(spec.name, spec.number, Role.ROUTER, 0),
            image=resolve(rewrite(program.image, context.settings), host),
            command=program.command,
            network_mode=program.network_mode,
            ports=(PortMapping(host=port, container=port, purpose="api"),),
            secrets=key_variables(context, program.key_variable)
            if program.key_variable
            else (),
            shm_size_bytes=SHM_BYTES,
            health_check=HealthCheck(
                test=program.probe, start_period_s=READY_DEADLINE_S
            ),
            time_zone=context.settings.time_zone,
            labels=(
                ("draftboard.deployment", spec.name),
                ("draftboard.rank", "0"),
                ("draftboard.revision", str(spec.number)),
                ("draftboard.role", Role.ROUTER.value),
            ),
        ),
        served_model_name=served_name(context),
        speculation=None,
        health_port=port,
        ready_deadline_s=READY_DEADLINE_S,
        health_path=program.health_path,
        lists_models=program.lists_models,
    )

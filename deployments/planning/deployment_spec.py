"""A deployment spec that a person wrote: revision, hosts and settings without any registered host."""

from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.caps import refuse_odd_text
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Role
from deployments.planning.platforms import find_platform
from deployments.planning.platforms.devices import DEVICES_PER_HOST, device_memory
from deployments.planning.plogs import read_log_root
from deployments.planning.reading import read_document
from deployments.planning.revision import (
    Goal,
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
    Topology,
    Workload,
)
from deployments.planning.snapshot import LOG_ROOT, ClusterSettings, HostSnapshot
from deployments.planning.text import listed, text

_STRICT = ConfigDict(extra="forbid")
FlagValue = str | int | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speculation:
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    method: str = "auto"
    num_speculative_tokens: int | None = None
    drafter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Role:
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    hosts: int | tuple[str, ...] | None = None
    num_speculative_tokens: int | None = None
    devices_per_host: int | None = None
    tensor_parallel_size: int | None = None
    data_parallel_size: int | None = None
    pipeline_parallel_size: int | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fleet:
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    platform: str
    count: int = 1
    name: str | None = None
    device: str | None = None
    devices_per_host: int | None = None
    device_memory_bytes: int | None = None
    address: str | None = None
    interface: str | None = None
    arch: str | None = None
    model_root: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workload:
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    input_tokens: int = 2000
    output_tokens: int = 500
    concurrency: int = 16
    goal: Goal = Goal.BALANCED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    model: str
    fleet: tuple[_Fleet, ...]
    checkpoint: str | None = None
    engine: str | None = None
    image: str | None = None
    served_model_name: str | None = None
    cluster: str | None = None
    speculation: _Speculation = field(default_factory=_Speculation)
    canary: _Speculation | None = None
    topology: Topology = Topology.COMBINED
    roles: dict[Role, _Role] = field(default_factory=dict)
    workload: _Workload = field(default_factory=_Workload)
    limits: _Limits = field(default_factory=_Limits)
    extra_flags: dict[str, FlagValue] = field(default_factory=dict)
    features: dict[str, bool] = field(default_factory=dict)
    api_key: str | None = None
    environment: dict[str, FlagValue] = field(default_factory=dict)
    split_cards: bool = False
    image_rewrites: dict[str, str] = field(default_factory=dict)
    time_zone: str | None = None
    log_root: str = LOG_ROOT


def parse_deployment_spec(
    document: Json,
) -> tuple[RevisionSpec, tuple[HostSnapshot, ...], ClusterSettings]:
    """Read a spec; decimals in it are text. Its ``cluster`` is for the wizard alone.

    Raises:
        PlanningError: a key is missing, unknown or of the wrong kind, the fleet is smaller than the
            roles need, or a value holds characters that cannot be told apart.
    """
    read = read_document(_Document, document, text("deployment spec"))
    refuse_odd_text(document)
    hosts = _hosts(read.fleet)
    spec = RevisionSpec(
        name=read.name,
        model=read.model,
        roles=_roles(read, hosts),
        checkpoint=read.checkpoint,
        engine=read.engine,
        image=read.image,
        speculation=_choice(read.speculation),
        canary=_choice(read.canary) if read.canary else None,
        topology=read.topology,
        workload=Workload(
            input_tokens=read.workload.input_tokens,
            output_tokens=read.workload.output_tokens,
            concurrency=read.workload.concurrency,
            goal=read.workload.goal,
        ),
        limits=_limits(read.limits),
        served_model_name=read.served_model_name,
        extra_flags=tuple(_flag(*pair) for pair in sorted(read.extra_flags.items())),
        features=tuple(sorted(read.features.items())),
        api_key=read.api_key,
        environment=tuple(
            _variable(*pair) for pair in sorted(read.environment.items())
        ),
    )
    settings = ClusterSettings(
        image_rewrites=tuple(sorted(read.image_rewrites.items())),
        time_zone=read.time_zone,
        files_only=True,
        split_cards=read.split_cards,
        log_root=read_log_root(read.log_root),
    )
    return spec, hosts, settings


def _hosts(fleet: tuple[_Fleet, ...]) -> tuple[HostSnapshot, ...]:
    hosts: list[HostSnapshot] = []
    numbers: dict[str, int] = {}
    for group in fleet:
        if group.count > 1 and group.address is not None:
            raise PlanningError(
                text(
                    "The fleet gives one address to {count} hosts; list them one by one.",
                    count=group.count,
                )
            )
        for index in range(group.count):
            numbers[group.platform] = numbers.get(group.platform, 0) + 1
            hosts.append(_host(group, index, numbers[group.platform]))
    names = [host.name for host in hosts]
    for name in sorted(set(names)):
        if names.count(name) > 1:
            raise PlanningError(
                text(
                    "The fleet names two hosts {name}; give each its own name.",
                    name=repr(name),
                )
            )
    return tuple(hosts)


def _host(group: _Fleet, index: int, number: int) -> HostSnapshot:
    platform = find_platform(group.platform).name
    name = f"{platform}-{number}"
    if group.name is not None:
        name = group.name if group.count == 1 else f"{group.name}-{index + 1}"
    devices = group.devices_per_host
    return HostSnapshot(
        name=name,
        platform=platform,
        device=group.device,
        device_count=DEVICES_PER_HOST[platform] if devices is None else devices,
        device_memory_bytes=group.device_memory_bytes
        or device_memory(platform, group.device),
        architecture=group.arch,
        address=group.address,
        interface=group.interface,
        model_root=group.model_root,
    )


def _roles(read: _Document, hosts: tuple[HostSnapshot, ...]) -> tuple[RoleSpec, ...]:
    free = [host.name for host in hosts]
    wanted = (
        (Role.PREFILL, Role.DECODE)
        if read.topology is Topology.DISAGGREGATED
        else (Role.COMBINED,)
    )
    for role in read.roles:
        if role not in wanted:
            raise PlanningError(
                text(
                    "A {topology} deployment has no {role} role; its roles are: {listed}.",
                    topology=read.topology.value,
                    role=role.value,
                    listed=listed(one.value for one in wanted),
                )
            )
    roles: list[RoleSpec] = []
    for role in wanted:
        given = read.roles.get(role, _Role())
        last = role is wanted[-1]
        chosen = _chosen_hosts(role, given, free, default=len(free) if last else 1)
        free = [name for name in free if name not in chosen]
        roles.append(
            RoleSpec(
                role=role,
                hosts=chosen,
                num_speculative_tokens=given.num_speculative_tokens,
                devices_per_host=given.devices_per_host,
                tensor_parallel_size=given.tensor_parallel_size,
                data_parallel_size=given.data_parallel_size,
                pipeline_parallel_size=given.pipeline_parallel_size,
                port=given.port,
            )
        )
    return tuple(roles)


def _chosen_hosts(
    role: Role, given: _Role, free: list[str], *, default: int
) -> tuple[str, ...]:
    if isinstance(given.hosts, tuple):
        return given.hosts
    count = default if given.hosts is None else given.hosts
    if count < 1 or count > len(free):
        raise PlanningError(
            text(
                "The {role} role wants {count} hosts, but the fleet has {left} left; add hosts to "
                "the fleet, or name the hosts of a role to share them.",
                role=role.value,
                count=count,
                left=len(free),
            )
        )
    return tuple(free[:count])


def _choice(given: _Speculation) -> SpeculationChoice:
    return SpeculationChoice(
        method=given.method,
        num_speculative_tokens=given.num_speculative_tokens,
        drafter=given.drafter,
    )


def _limits(given: _Limits) -> Limits:
    return Limits(
        max_model_len=given.max_model_len,
        max_num_seqs=given.max_num_seqs,
        max_num_batched_tokens=given.max_num_batched_tokens,
        gpu_memory_utilization_percent=_percent(given.gpu_memory_utilization),
    )


def _percent(share: str | None) -> int | None:
    if share is None:
        return None
    whole, _point, rest = share.partition(".")
    digits = rest.ljust(2, "0")
    if not (whole + digits).isdigit() or digits[2:].strip("0"):
        raise PlanningError(
            text(
                "gpu_memory_utilization {share} is not a share such as 0.92 with two decimals.",
                share=repr(share),
            )
        )
    return int(whole) * 100 + int(digits[:2])


def _variable(name: str, value: FlagValue) -> tuple[str, str]:
    if isinstance(value, bool):
        raise PlanningError(
            text(
                "The value of {name} in environment is neither text nor a number; write it in "
                "quotes as the engine should read it.",
                name=name,
            )
        )
    return name, str(value)


def _flag(name: str, value: FlagValue) -> tuple[str, str]:
    flag = name if name.startswith("-") else f"--{name}"
    if value is False:
        return f"--no-{flag.removeprefix('--')}", ""
    return flag, "" if value is True else str(value)

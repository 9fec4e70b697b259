"""How a role spreads over its hosts: tensor and data parallel ranks, instances, heads."""

from dataclasses import dataclass, replace

from deployments.planning.catalog import Checkpoint, TargetModel
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Role
from deployments.planning.platforms.platform import Platform
from deployments.planning.revision import RoleSpec
from deployments.planning.serving import ServingProfile, ServingQuery, merge_serving
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import text


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleLayout:
    """One role over its hosts.

    Hosts are cut into instances of ``hosts_per_instance``; each instance is one server of
    ``data_parallel_size`` ranks, ``data_parallel_size_local`` of them on every host, each on
    ``tensor_parallel_size`` times ``pipeline_parallel_size`` devices. ``assumed`` says that no document and no person gave the
    layout, ``widened_from`` the documented tensor parallel size where memory asked for a larger one.
    """

    spec: RoleSpec
    hosts: tuple[HostSnapshot, ...]
    serving: ServingProfile
    tensor_parallel_size: int
    data_parallel_size: int
    data_parallel_size_local: int
    expert_parallel: bool
    pipeline_parallel_size: int = 1
    assumed: bool = False
    widened_from: int | None = None

    @property
    def role(self) -> Role:
        """The role."""
        return self.spec.role

    @property
    def devices_per_host(self) -> int:
        """Devices that the role takes on each of its hosts."""
        return (
            self.tensor_parallel_size
            * self.pipeline_parallel_size
            * self.data_parallel_size_local
        )

    @property
    def hosts_per_instance(self) -> int:
        """Hosts that serve together behind one address."""
        return max(1, self.data_parallel_size // self.data_parallel_size_local)

    @property
    def instances(self) -> int:
        """Servers of the role, each with all of its ranks."""
        return max(1, len(self.hosts) // self.hosts_per_instance)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutRequest:
    """What a role is laid out from; ``documented_for`` as in Question, ``practice`` counts no devices.

    ``context`` is the max_model_len that a person asks for, 0 where nobody does.
    """

    model: TargetModel
    checkpoint: Checkpoint
    platform: Platform
    documented_for: str
    method: str
    practice: bool
    context: int = 0


@dataclass(frozen=True, slots=True)
class _Shape:
    tensor: int
    local: int
    total: int | None
    assumed: bool = False


def lay_out(
    request: LayoutRequest, spec: RoleSpec, hosts: tuple[HostSnapshot, ...]
) -> RoleLayout:
    """Choose ranks for one role: a person's sizes, else the documented ones, else derived ones.

    Raises:
        PlanningError: the sizes that a person gave do not divide.
    """
    query = ServingQuery(
        platform=request.documented_for,
        role=spec.role,
        hosts=len(hosts),
        method=request.method,
        checkpoint=request.checkpoint.key,
        context=request.context,
    )
    serving = merge_serving(request.model.serving, query)
    stages = spec.pipeline_parallel_size or 1
    shape = _shape(request, *_columns(spec, hosts, stages), serving)
    total = _total_ranks(shape, spec, len(hosts))
    experts = request.model.experts is not None
    expert_parallel = serving.expert_parallel
    if expert_parallel is None:
        expert_parallel = experts and total > 1
    return RoleLayout(
        spec=spec,
        hosts=hosts,
        serving=serving,
        tensor_parallel_size=shape.tensor,
        data_parallel_size=total,
        data_parallel_size_local=shape.local,
        expert_parallel=expert_parallel,
        pipeline_parallel_size=stages,
        assumed=shape.assumed,
    )


def _columns(
    spec: RoleSpec, hosts: tuple[HostSnapshot, ...], stages: int
) -> tuple[RoleSpec, tuple[HostSnapshot, ...]]:
    """The role and its hosts with the devices of all stages taken for one large device.

    Raises:
        PlanningError: the devices that a person gave do not divide into the stages.
    """
    if stages == 1:
        return spec, hosts
    wanted = spec.devices_per_host
    if wanted is not None and wanted % stages:
        raise PlanningError(
            text(
                "The {role} role takes {wanted} devices on each host, which {stages} pipeline "
                "stages do not divide; change one of the two.",
                role=spec.role.value,
                wanted=wanted,
                stages=stages,
            )
        )
    columns = tuple(
        replace(
            host,
            device_count=max(1, host.device_count // stages),
            device_memory_bytes=host.device_memory_bytes
            and host.device_memory_bytes * stages,
        )
        for host in hosts
    )
    return replace(spec, devices_per_host=wanted and wanted // stages), columns


def _shape(
    request: LayoutRequest,
    spec: RoleSpec,
    hosts: tuple[HostSnapshot, ...],
    serving: ServingProfile,
) -> _Shape:
    local = _local_ranks_asked(spec, len(hosts))
    if request.practice or not request.platform.has_devices:
        return _Shape(spec.tensor_parallel_size or 1, local or 1, None)
    if spec.tensor_parallel_size is not None:
        _refuse_undivided(request.model, spec.role, spec.tensor_parallel_size)
        return _from_person(spec, spec.tensor_parallel_size, local)
    if serving.tensor_parallel_size is not None:
        shape = _from_documents(spec, hosts, serving, local)
    else:
        shape = _derived(request, spec, hosts, local)
    return _dividing(request.model, spec, shape, local)


def divides_heads(model: TargetModel, tensor: int) -> bool:
    """Whether so many ranks divide the attention heads, as vLLM demands; unknown heads are no obstacle."""
    heads = model.attention.heads if model.attention else None
    return heads is None or heads % tensor == 0


def _refuse_undivided(model: TargetModel, role: Role, tensor: int) -> None:
    if not divides_heads(model, tensor):
        heads = model.attention.heads if model.attention else None
        raise PlanningError(
            text(
                "The {role} role has {tensor} tensor parallel ranks, which do not divide the {heads} "
                "attention heads of {model}; choose a number that does.",
                role=role.value,
                tensor=tensor,
                heads=heads or 0,
                model=model.name,
            )
        )


def _dividing(
    model: TargetModel, spec: RoleSpec, shape: _Shape, local: int | None
) -> _Shape:
    """The same devices in ranks that divide the attention heads.

    Raises:
        PlanningError: a person gave devices and ranks that leave no such size.
    """
    if local is not None and spec.devices_per_host is not None:
        _refuse_undivided(model, spec.role, shape.tensor)
    tensor = shape.tensor
    while not divides_heads(model, tensor):
        tensor //= 2
    if tensor == shape.tensor or local is not None:
        return replace(shape, tensor=tensor)
    more = shape.tensor // tensor
    total = None if shape.total is None else shape.total * more
    return replace(shape, tensor=tensor, local=shape.local * more, total=total)


def _from_person(spec: RoleSpec, tensor: int, local: int | None) -> _Shape:
    wanted = spec.devices_per_host
    if wanted is None:
        return _Shape(tensor, local or 1, None)
    if wanted % tensor:
        raise PlanningError(
            text(
                "The {role} role takes {wanted} devices on each host, which {tensor} tensor parallel "
                "ranks do not divide; change one of the two.",
                role=spec.role.value,
                wanted=wanted,
                tensor=tensor,
            )
        )
    ranks = wanted // tensor
    if local is not None and local != ranks:
        raise PlanningError(
            text(
                "The {role} role takes {wanted} devices on each host, but {tensor} x {local} ranks "
                "need {needed}; change one of them.",
                role=spec.role.value,
                wanted=wanted,
                tensor=tensor,
                local=local,
                needed=tensor * local,
            )
        )
    return _Shape(tensor, ranks, None)


def _from_documents(
    spec: RoleSpec,
    hosts: tuple[HostSnapshot, ...],
    serving: ServingProfile,
    local: int | None,
) -> _Shape:
    tensor = serving.tensor_parallel_size or 1
    documented = serving.data_parallel_size_local or serving.data_parallel_size or 1
    wanted = spec.devices_per_host or min(
        tensor * (local or documented), hosts[0].device_count or tensor * documented
    )
    tensor = min(tensor, wanted)
    ranks = local or max(1, wanted // tensor)
    if serving.data_parallel_size_local is None:
        return _Shape(tensor, ranks, ranks)
    return _Shape(tensor, ranks, serving.data_parallel_size)


def _derived(
    request: LayoutRequest,
    spec: RoleSpec,
    hosts: tuple[HostSnapshot, ...],
    local: int | None,
) -> _Shape:
    if spec.devices_per_host is not None:
        tensor = max(1, spec.devices_per_host // (local or 1))
        return _Shape(tensor, local or 1, None, assumed=True)
    present = hosts[0].device_count or 1
    need = _documented_need(request)
    if need is not None:
        devices, spanned = need
        return _Shape(min(devices, present), local or 1, spanned or None, assumed=True)
    wanted = _devices_for_memory(request.checkpoint, hosts[0])
    if wanted is None:
        return _Shape(present, local or 1, None, assumed=True)
    spanned = -(-wanted // present)
    ranks = spanned * (local or 1) if spanned > 1 else None
    return _Shape(min(wanted, present), local or 1, ranks, assumed=True)


def _documented_need(request: LayoutRequest) -> tuple[int, int] | None:
    for need in request.checkpoint.minimum:
        if need.platform == request.platform.name:
            return need.devices_per_host, need.hosts if need.hosts > 1 else 0
    return None


def _devices_for_memory(checkpoint: Checkpoint, host: HostSnapshot) -> int | None:
    if not checkpoint.memory_minimum_bytes or not host.device_memory_bytes:
        return None
    wanted = -(-checkpoint.memory_minimum_bytes // host.device_memory_bytes)
    return 1 << (wanted - 1).bit_length()


def _local_ranks_asked(spec: RoleSpec, hosts: int) -> int | None:
    if spec.data_parallel_size is None:
        return None
    if spec.data_parallel_size % hosts:
        raise PlanningError(
            text(
                "{data_parallel_size} data parallel ranks do not divide over the {hosts} hosts of "
                "the {role} role; choose a multiple of {hosts}.",
                data_parallel_size=spec.data_parallel_size,
                hosts=hosts,
                role=spec.role.value,
            )
        )
    return spec.data_parallel_size // hosts


def _total_ranks(shape: _Shape, spec: RoleSpec, hosts: int) -> int:
    if spec.data_parallel_size is not None:
        return spec.data_parallel_size
    if shape.total is None:
        return shape.local
    spanned = max(1, shape.total // shape.local)
    if spanned > hosts or hosts % spanned:
        spanned = hosts
    return spanned * shape.local

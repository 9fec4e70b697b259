"""Replicas on hosts: who sits where, on which devices and ports."""

from dataclasses import dataclass

from deployments.planning.container import NetworkMode, PortMapping
from deployments.planning.containers import Parts, container_for
from deployments.planning.context import HostTrouble, PlanContext, RoleSettings
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.placement import HostBook, take_ports_everywhere
from deployments.planning.plan import ExpectedSpeculation, PlannedReplica, Role
from deployments.planning.platforms.platform import Beyond, ContainerNeeds, Placement
from deployments.planning.rdma import with_rdma
from deployments.planning.readiness import ready_deadline
from deployments.planning.revision import Topology
from deployments.planning.router import network_of_router, router_for
from deployments.planning.serve_command import Seat, served_name
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.transfer import KV_PORT_STEP, Endpoint, transfer_ports
from deployments.planning.variables import HEAD_ADDRESS, address_of, reference_to

CONTAINER_API_PORT = 8000
FIRST_PORT = {
    Role.COMBINED: 8000,
    Role.PREFILL: 8100,
    Role.DECODE: 8200,
}
RPC_PORT = 12321


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance:
    settings: RoleSettings
    books: tuple[HostBook, ...]
    first_rank: int
    number: int
    endpoint: Endpoint | None
    rpc_port: int | None


def place(
    context: PlanContext,
) -> tuple[tuple[PlannedReplica, ...], tuple[HostTrouble, ...], tuple[Beyond, ...]]:
    """Give every role its devices, ports and containers.

    Also returns what hosts could not give, and what containers get beyond the floor.

    Raises:
        PlanningError: a host has no free port left.
    """
    books = {host.name: HostBook(host) for host in context.hosts}
    replicas: list[PlannedReplica] = []
    beyond: dict[Beyond, None] = {}
    number = 0
    for settings in context.roles:
        layout = settings.layout
        span = layout.hosts_per_instance
        for first in range(0, len(layout.hosts), span):
            chosen = tuple(
                books[host.name] for host in layout.hosts[first : first + span]
            )
            instance = _open_instance(context, settings, chosen, first, number)
            for index in range(len(chosen)):
                replica, needs = _replica(context, instance, index)
                replicas.append(replica)
                beyond.update(dict.fromkeys(needs.beyond))
            number += 1
    router = router_for(context, books, replicas)
    if router is not None:
        replicas.append(router)
        network = network_of_router(context)
        beyond.update({} if network is None else {network: None})
    troubles = tuple(
        HostTrouble(
            host=name, shortages=tuple(book.shortages), clashes=tuple(book.clashes)
        )
        for name, book in sorted(books.items())
        if book.shortages or book.clashes
    )
    return tuple(replicas), troubles, tuple(beyond)


def _open_instance(
    context: PlanContext,
    settings: RoleSettings,
    books: tuple[HostBook, ...],
    first_rank: int,
    number: int,
) -> _Instance:
    endpoint = None
    if context.spec.topology is Topology.DISAGGREGATED:
        endpoint = Endpoint(
            number=number, port=_transfer_port(context, settings, books, number)
        )
    rpc_port = books[0].take_ports(RPC_PORT) if len(books) > 1 else None
    return _Instance(
        settings=settings,
        books=books,
        first_rank=first_rank,
        number=number,
        endpoint=endpoint,
        rpc_port=rpc_port,
    )


def _transfer_port(
    context: PlanContext,
    settings: RoleSettings,
    books: tuple[HostBook, ...],
    number: int,
) -> int:
    first = context.platform.first_kv_port
    if context.practice:
        return first + KV_PORT_STEP * number
    count = transfer_ports(context, settings)
    if context.profile.engine == VLLM_ASCEND:
        first += KV_PORT_STEP * number
        return take_ports_everywhere(books, first, count, step=KV_PORT_STEP)
    return take_ports_everywhere(books, first, count, step=1)


def _replica(
    context: PlanContext, instance: _Instance, index: int
) -> tuple[PlannedReplica, ContainerNeeds]:
    settings, book = instance.settings, instance.books[index]
    rank = instance.first_rank + index
    devices = _devices(context, settings, book)
    spans = len(instance.books) > 1 or instance.endpoint is not None
    placement = Placement(
        host=book.host,
        role=settings.role,
        devices=devices,
        spans_hosts=spans,
        transfers=instance.endpoint is not None,
    )
    needs = context.platform.needs(placement)
    if placement.transfers and not context.practice:
        needs = with_rdma(context, settings, needs)
    api_port = _api_port(instance, book, rank) if index == 0 else None
    in_host_network = needs.network_mode is NetworkMode.HOST
    seat = Seat(
        host_index=index,
        api_port=_inside(api_port, in_host_network=in_host_network),
        head_address=_head_address(instance.books[0].host, index),
        rpc_port=instance.rpc_port,
        endpoint=instance.endpoint,
    )
    ports = _ports(context, instance, seat, api_port)
    parts = Parts(
        settings=settings,
        placement=placement,
        needs=needs,
        seat=seat,
        ports=ports,
        rank=rank,
    )
    replica = PlannedReplica(
        role=settings.role,
        rank=rank,
        host=book.host.name,
        devices=devices,
        container=container_for(context, parts),
        served_model_name=served_name(context),
        speculation=_expected(context, settings),
        health_port=api_port,
        ready_deadline_s=ready_deadline(context, settings),
        practice=context.practice,
    )
    return replica, needs


def _expected(
    context: PlanContext, settings: RoleSettings
) -> ExpectedSpeculation | None:
    speculative = settings.speculative
    if speculative is None:
        return None
    return ExpectedSpeculation(
        method=context.profile.spell(speculative.method, speculative.target_model_type),
        num_speculative_tokens=speculative.num_speculative_tokens,
    )


def _devices(
    context: PlanContext, settings: RoleSettings, book: HostBook
) -> tuple[int, ...]:
    if context.practice or not context.platform.has_devices:
        return ()
    per_card = context.platform.traits.devices_per_card
    return book.take_devices(
        settings.layout.devices_per_host,
        per_card=1 if context.settings.split_cards else per_card,
    )


def _api_port(instance: _Instance, book: HostBook, rank: int) -> int:
    asked = instance.settings.layout.spec.port
    if asked is not None and rank == 0:
        return book.take_port_exactly(asked)
    return book.take_ports(asked or FIRST_PORT[instance.settings.role])


def _inside(api_port: int | None, *, in_host_network: bool) -> int | None:
    if api_port is None or in_host_network:
        return api_port
    return CONTAINER_API_PORT


def _head_address(head: HostSnapshot, index: int) -> str:
    if index == 0:
        return address_of(head)
    return head.address or reference_to(HEAD_ADDRESS)


def _ports(
    context: PlanContext, instance: _Instance, seat: Seat, api_port: int | None
) -> tuple[PortMapping, ...]:
    ports = []
    if api_port is not None and seat.api_port is not None:
        ports.append(PortMapping(host=api_port, container=seat.api_port, purpose="api"))
    if instance.rpc_port is not None and seat.host_index == 0:
        port = instance.rpc_port
        ports.append(PortMapping(host=port, container=port, purpose="dp-rpc"))
    if instance.endpoint is not None and not context.practice:
        first = instance.endpoint.port
        ports.extend(
            PortMapping(host=port, container=port, purpose="kv")
            for port in range(first, first + transfer_ports(context, instance.settings))
        )
    return tuple(ports)

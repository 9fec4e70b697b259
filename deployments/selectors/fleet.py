"""The fleet as pages show it: clusters, hosts, and devices in runs of one holder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db.models import Prefetch, QuerySet, prefetch_related_objects
from django.utils import timezone

from deployments.models import (
    ANSWERING,
    Booking,
    Cluster,
    Host,
    Reachability,
    Replica,
    ReplicaState,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.selectors.device_cells import DEVICES_PER_CARD, CellRun, cell_runs

CLOCK_WARNING_MS = 2000
"""A host whose clock differs by more shifts its samples visibly; the page says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine:
    """One host with its devices."""

    row: Host
    runs: tuple[CellRun, ...]
    device_count: int
    booked: int
    cards_of_two: bool

    @property
    def reachable(self) -> bool:
        """Whether the engine answered when it was last called."""
        return self.row.reachability in ANSWERING

    @property
    def clock_off(self) -> bool:
        """Whether the clock differs so much that times of samples mislead."""
        return abs(self.row.clock_offset_ms or 0) > CLOCK_WARNING_MS

    @property
    def degraded(self) -> bool:
        """Whether it answers, but slowly, with errors, with a wrong clock or with failing devices."""
        return self.row.reachability == Reachability.DEGRADED

    @property
    def resting(self) -> bool:
        """Whether the panel calls it no more for a while, since calls failed."""
        next_try = self.row.next_try_at
        return next_try is not None and next_try > timezone.now()

    @property
    def remarkable(self) -> bool:
        """Whether a person should look at it."""
        return not self.reachable or self.degraded or self.clock_off


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """Hosts of one platform in a cluster; ``None`` where they differ or nobody knows."""

    platform: str
    hosts: int
    devices_each: int | None
    memory_each_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLine:
    """One cluster with its hosts."""

    row: Cluster
    hosts: tuple[HostLine, ...]
    equipment: tuple[Equipment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Every host that a person sees, and where asked for its cluster."""

    hosts: tuple[HostLine, ...]
    clusters: tuple[ClusterLine, ...] = ()

    @property
    def device_count(self) -> int:
        """All devices."""
        return sum(host.device_count for host in self.hosts)

    @property
    def booked(self) -> int:
        """Devices that a replica holds."""
        return sum(host.booked for host in self.hosts)

    @property
    def seen_at(self) -> datetime | None:
        """The newest contact with any host."""
        times = [host.row.seen_at for host in self.hosts if host.row.seen_at]
        return max(times, default=None)

    @property
    def bare(self) -> tuple[ClusterLine, ...]:
        """Clusters without a host."""
        return tuple(one for one in self.clusters if not one.hosts)

    @property
    def silent(self) -> int:
        """Hosts that do not answer."""
        return sum(not host.reachable for host in self.hosts)

    @property
    def degraded(self) -> int:
        """Hosts that answer and need somebody all the same."""
        return sum(host.degraded for host in self.hosts)


def fleet_of(user: User) -> Fleet:
    """Every cluster of the person's teams, in four queries."""
    clusters = Cluster.objects.for_user(user).select_related("team")
    lines = _cluster_lines(clusters)
    return Fleet(
        hosts=tuple(host for line in lines for host in line.hosts), clusters=lines
    )


def hosts_of(user: User) -> Fleet:
    """Every host of the person's teams without its cluster, in three queries."""
    rows = _hosts().filter(pk__in=Host.objects.for_user(user).values("pk"))
    return Fleet(hosts=tuple(_host_line(row) for row in rows))


def cluster_line(cluster: Cluster) -> ClusterLine:
    """One cluster with its hosts, in four queries."""
    return _cluster_lines(Cluster.objects.filter(pk=cluster.pk))[0]


def host_line(host: Host) -> HostLine:
    """One host with its devices, in three queries."""
    return _host_line(_hosts().get(pk=host.pk))


def replicas_on(host: Host) -> ScopedQuerySet[Replica]:
    """Replicas whose containers are, or may be, on the host."""
    return (
        Replica.objects.filter(host=host)
        .exclude(state=ReplicaState.REMOVED)
        .select_related("release__deployment", "release__plan")
        .order_by("release__deployment__name", "role", "rank")
    )


def host_lines(hosts: Sequence[Host]) -> tuple[HostLine, ...]:
    """These hosts in their order, in two queries."""
    prefetch_related_objects(hosts, *_devices())
    return tuple(_host_line(host) for host in hosts)


def _hosts() -> QuerySet[Host]:
    return Host.objects.order_by("name").prefetch_related(*_devices())


def _devices() -> tuple["str | Prefetch[str]", ...]:
    held = Booking.objects.filter(
        released_at=None, device__isnull=False
    ).select_related("replica__release__deployment", "replica__release__plan")
    return "devices", Prefetch("bookings", queryset=held)


def _cluster_lines(clusters: QuerySet[Cluster]) -> tuple[ClusterLine, ...]:
    hosts = _hosts()
    rows = clusters.prefetch_related(Prefetch("hosts", queryset=hosts))
    return tuple(
        ClusterLine(
            row=row,
            hosts=tuple(_host_line(host) for host in row.hosts.all()),
            equipment=_equipment(row.hosts.all()),
        )
        for row in rows
    )


def _host_line(host: Host) -> HostLine:
    holders = {
        booking.device: booking.replica
        for booking in host.bookings.all()
        if booking.device is not None
    }
    devices = list(host.devices.all())
    return HostLine(
        row=host,
        runs=cell_runs(host, devices, holders),
        device_count=len(devices),
        booked=len(holders),
        cards_of_two=host.platform in DEVICES_PER_CARD,
    )


def _equipment(hosts: Iterable[Host]) -> tuple[Equipment, ...]:
    ordered = sorted(hosts, key=lambda host: host.platform)
    result = []
    for platform, group in groupby(ordered, key=lambda host: host.platform):
        rows = list(group)
        counts = {len(row.devices.all()) for row in rows}
        memory = {device.memory_bytes for row in rows for device in row.devices.all()}
        result.append(
            Equipment(
                platform=platform,
                hosts=len(rows),
                devices_each=counts.pop() if len(counts) == 1 else None,
                memory_each_bytes=memory.pop() if len(memory) == 1 else None,
            )
        )
    return tuple(result)

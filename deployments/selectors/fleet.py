"""The fleet as pages show it: clusters, hosts, and devices in runs of one holder."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import (
    Count,
    Exists,
    Max,
    Min,
    OuterRef,
    Prefetch,
    QuerySet,
    prefetch_related_objects,
)
from django.utils import timezone

from deployments.models import (
    ANSWERING,
    Booking,
    Cluster,
    Host,
    Membership,
    Reachability,
    Replica,
    ReplicaState,
    User,
)
from deployments.selectors.device_cells import DEVICES_PER_CARD, CellRun, cell_runs

CLOCK_WARNING_MS = 2000
"""A host whose clock differs by more shifts its samples visibly; the page says so."""
MOST_SHOWN, FEWEST_SHOWN = 60, 3
"""Hosts with their devices on one page, each up to five kilobytes, and of one cluster of many."""


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


class HostFact(NamedTuple):
    """What sums over hosts need of one: many hosts are counted and few of them shown.

    ``memory_known`` of its ``devices`` say their memory, between ``least`` and ``most`` bytes.
    """

    pk: uuid.UUID
    cluster_id: uuid.UUID
    name: str
    platform: str
    reachability: str
    clock_offset_ms: int | None
    seen_at: datetime | None
    devices: int
    memory_known: int
    least: int | None
    most: int | None

    @property
    def silent(self) -> bool:
        """Whether the engine did not answer when it was last called."""
        return self.reachability not in ANSWERING

    @property
    def degraded(self) -> bool:
        """Whether it answers and needs somebody all the same."""
        return self.reachability == Reachability.DEGRADED

    @property
    def urgency(self) -> tuple[int, str]:
        """What its place in a list is: those to look at come first."""
        clock_off = abs(self.clock_offset_ms or 0) > CLOCK_WARNING_MS
        remarkable = self.degraded or clock_off
        return (0 if self.silent else 1 if remarkable else 2), self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """Hosts of one platform in a cluster; ``None`` where they differ or nobody knows."""

    platform: str
    hosts: int
    devices_each: int | None
    memory_each_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLine:
    """One cluster with the hosts of it that are shown, and what is known of all."""

    row: Cluster
    hosts: tuple[HostLine, ...]
    facts: tuple[HostFact, ...]

    @property
    def more(self) -> int:
        """Hosts that are left out."""
        return len(self.facts) - len(self.hosts)

    @property
    def equipment(self) -> tuple[Equipment, ...]:
        """What the cluster consists of, by platform."""
        return _equipment(self.facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Every cluster that a person sees; ``booked`` devices are held by a replica."""

    clusters: tuple[ClusterLine, ...]
    booked: int

    @property
    def facts(self) -> tuple[HostFact, ...]:
        """All hosts."""
        return tuple(host for cluster in self.clusters for host in cluster.facts)

    @property
    def device_count(self) -> int:
        """All devices."""
        return sum(host.devices for host in self.facts)

    @property
    def seen_at(self) -> datetime | None:
        """The newest contact with any host."""
        times = [host.seen_at for host in self.facts if host.seen_at]
        return max(times, default=None)

    @property
    def bare(self) -> tuple[ClusterLine, ...]:
        """Clusters without a host."""
        return tuple(one for one in self.clusters if not one.facts)

    @property
    def silent(self) -> int:
        """Hosts that do not answer."""
        return sum(host.silent for host in self.facts)

    @property
    def degraded(self) -> int:
        """Hosts that answer and need somebody all the same."""
        return sum(host.degraded for host in self.facts)


def fleet_of(user: User) -> Fleet:
    """Every cluster that the person sees with the hosts to look at first, in six queries."""
    clusters = list(Cluster.objects.for_user_or_guest(user).select_related("team"))
    held = Booking.objects.filter(
        released_at=None, device__isnull=False, host__cluster__in=clusters
    )
    return Fleet(clusters=_cluster_lines(user, clusters), booked=held.count())


def hosts_of(user: User) -> tuple[HostLine, ...]:
    """Every host of the person's teams, in three queries."""
    rows = _hosts(user).filter(pk__in=Host.objects.for_user(user).values("pk"))
    return tuple(_host_line(row) for row in rows)


def cluster_line(user: User, cluster: Cluster) -> ClusterLine:
    """One cluster with the hosts to look at first, in four queries."""
    return _cluster_lines(user, [cluster])[0]


def host_line(user: User, host: Host) -> HostLine:
    """One host with its devices, in three queries."""
    return _host_line(_hosts(user).get(pk=host.pk))


def replicas_on(user: User, host: Host) -> list[Any]:
    """Replicas whose containers are, or may be, on the host; ``known`` are of the person's teams."""
    return list(
        Replica.objects.filter(host=host)
        .exclude(state=ReplicaState.REMOVED)
        .annotate(known=_known(user, "release"))
        .select_related("release__deployment", "release__plan")
        .order_by("release__deployment__name", "role", "rank")
    )


def host_lines(user: User, hosts: Sequence[Host]) -> tuple[HostLine, ...]:
    """These hosts in their order, in two queries."""
    prefetch_related_objects(hosts, *_devices(user))
    return tuple(_host_line(host) for host in hosts)


def _hosts(user: User) -> QuerySet[Host]:
    return Host.objects.order_by("name").prefetch_related(*_devices(user))


def _devices(user: User) -> tuple["str | Prefetch[str]", ...]:
    held = Booking.objects.filter(released_at=None, device__isnull=False)
    known = held.annotate(known=_known(user, "replica__release")).select_related(
        "replica__release__deployment", "replica__release__plan"
    )
    return "devices", Prefetch("bookings", queryset=known)


def _known(user: User, release: str) -> Exists:
    """Whether the person may know which deployment it is: guests and hosts of a cluster share no more."""
    team = OuterRef(f"{release}__deployment__team")
    return Exists(Membership.objects.filter(user=user, team=team))


def _cluster_lines(user: User, clusters: Sequence[Cluster]) -> tuple[ClusterLine, ...]:
    facts = _facts(clusters)
    each = max(FEWEST_SHOWN, MOST_SHOWN // max(1, len(facts)))
    shown = {
        host.pk
        for hosts in facts.values()
        for host in sorted(hosts, key=attrgetter("urgency"))[:each]
    }
    lines: dict[uuid.UUID, list[HostLine]] = {}
    for host in _hosts(user).filter(pk__in=shown):
        lines.setdefault(host.cluster_id, []).append(_host_line(host))
    return tuple(
        ClusterLine(
            row=row,
            hosts=tuple(lines.get(row.pk, ())),
            facts=tuple(facts.get(row.pk, ())),
        )
        for row in clusters
    )


def _facts(clusters: Sequence[Cluster]) -> dict[uuid.UUID, list[HostFact]]:
    """The hosts of each cluster that has some."""
    memory = "devices__memory_bytes"
    rows = (
        Host.objects.filter(cluster__in=clusters)
        .order_by("name")
        .values_list(
            *HostFact._fields[:7],
            Count("devices"),
            Count(memory),
            Min(memory),
            Max(memory),
        )
    )
    facts: dict[uuid.UUID, list[HostFact]] = {}
    for row in rows:
        fact = HostFact(*row)
        facts.setdefault(fact.cluster_id, []).append(fact)
    return facts


def _host_line(host: Host) -> HostLine:
    holders = {
        booking.device: booking.replica
        for booking in host.bookings.all()
        if booking.device is not None
    }
    devices = list(host.devices.all())
    foreign = {
        booking.device
        for booking in host.bookings.all()
        if not getattr(booking, "known", True)
    }
    return HostLine(
        row=host,
        runs=cell_runs(host, devices, holders, foreign),
        device_count=len(devices),
        booked=len(holders),
        cards_of_two=host.platform in DEVICES_PER_CARD,
    )


def _equipment(hosts: Iterable[HostFact]) -> tuple[Equipment, ...]:
    ordered = sorted(hosts, key=attrgetter("platform"))
    result = []
    for platform, group in groupby(ordered, key=attrgetter("platform")):
        rows = list(group)
        counts = {row.devices for row in rows}
        having = [row for row in rows if row.devices]
        memory = {bytes_ for row in having for bytes_ in (row.least, row.most)}
        known = all(row.memory_known == row.devices for row in having)
        result.append(
            Equipment(
                platform=platform,
                hosts=len(rows),
                devices_each=counts.pop() if len(counts) == 1 else None,
                memory_each_bytes=memory.pop() if known and len(memory) == 1 else None,
            )
        )
    return tuple(result)

"""The table of hosts: reachability, versions, clock, and how many devices are booked."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Count, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    ANSWERING,
    Booking,
    Device,
    Host,
    Platform,
    Reachability,
    TableKey,
    User,
)
from deployments.selectors.ready_rows import Row
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import Choices, cluster_filter
from deployments.selectors.tables.columns import (
    Column,
    Filter,
    Kind,
    Link,
    Rows,
    State,
    TableRow,
)
from deployments.selectors.tables.table import Table
from deployments.selectors.texts import say

FIELDS = (
    "pk",
    "name",
    "cluster__name",
    "reachability",
    "unreachable_since",
    "platform",
    "docker_version",
    "architecture",
    "clock_offset_ms",
    "seen_at",
    "reason",
    "devices_here",
    "booked_here",
)


def _number_of(rows: Rows) -> Coalesce:
    number = rows.order_by().values("host").annotate(number=Count("pk"))
    return Coalesce(Subquery(number.values("number")), Value(0))


_DEVICES = Device.objects.filter(host=OuterRef("pk"))
_BOOKED = Booking.objects.filter(
    host=OuterRef("pk"), released_at=None, device__isnull=False
)
_COUNTED: Any = Host.objects.annotate(
    devices_here=_number_of(_DEVICES), booked_here=_number_of(_BOOKED)
)
"""Hosts with how many devices they have and how many are booked; made once, as it takes a while."""


def _state_choices(user: User) -> Choices:
    del user
    return [
        ("", _("All")),
        ("silent", _("Not answering")),
        ("degraded", _("Degraded")),
        ("free", _("With free devices")),
    ]


def _state(rows: Rows, value: str, user: User) -> Rows:
    del user
    if value == "silent":
        return rows.exclude(reachability__in=ANSWERING)
    if value == "degraded":
        return rows.filter(reachability=Reachability.DEGRADED)
    if value == "free":
        free = _number_of(_DEVICES) - _number_of(_BOOKED)
        kept: Rows = rows.annotate(free=free).filter(free__gt=0)
        return kept
    return rows


def _platforms(user: User) -> Choices:
    del user
    return [("", _("All platforms")), *Platform.choices]


def _of_platform(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(platform=value) if value else rows


class HostTable(Table):
    """Hosts of the person's teams, and of clusters that are shared with them."""

    key = TableKey.HOSTS
    url_name = "host-list"
    fields = FIELDS
    order = "name"
    search_hint = _("name, cluster or address")
    empty = _(
        "No host yet. A host appears when a worker has reached its Docker Engine."
    )
    action = ("fleet", _("Fleet"))
    columns = (
        Column(key="name", title=_("Host"), kind=Kind.LINK, sort=("name",), wide=True),
        Column(
            key="state",
            title=_("State"),
            kind=Kind.STATE,
            sort=("reachability", "unreachable_since"),
        ),
        Column(
            key="platform",
            title=_("Platform"),
            kind=Kind.PLATFORM,
            sort=("platform",),
        ),
        Column(
            key="devices",
            title=_("Devices"),
            kind=Kind.COUNT,
            sort=("devices_here",),
        ),
        Column(key="booked", title=_("Booked"), kind=Kind.COUNT, sort=("booked_here",)),
        Column(
            key="docker",
            title=_("Docker"),
            kind=Kind.TEXT,
            sort=("docker_version",),
            none=_("no data"),
        ),
        Column(
            key="clock",
            title=_("Clock"),
            kind=Kind.OFFSET,
            sort=("clock_offset_ms",),
            nullable=True,
        ),
        Column(
            key="seen",
            title=_("Seen"),
            kind=Kind.MOMENT,
            sort=("seen_at",),
            nullable=True,
            none=_("never"),
        ),
        Column(key="why", title=_("Why"), kind=Kind.TEXT, silent=True, wide=True),
        Column(
            key="cluster",
            title=_("Cluster"),
            kind=Kind.TEXT,
            sort=("cluster__name",),
            shown=False,
        ),
        Column(
            key="architecture",
            title=_("Architecture"),
            kind=Kind.TEXT,
            sort=("architecture",),
            none=_("no data"),
            shown=False,
        ),
    )
    filters = (
        Filter(
            key="show",
            title=_("Show"),
            choices=_state_choices,
            keep=_state,
            strip=True,
        ),
        cluster_filter("cluster"),
        Filter(
            key="platform", title=_("Platform"), choices=_platforms, keep=_of_platform
        ),
    )

    def scope(self, user: User) -> Rows:
        """Hosts of the person's teams, and those that they see as guests."""
        return Host.objects.for_user_or_guest(user)

    def detailed(self, user: User) -> Rows:
        """The same with the numbers of devices."""
        found: Rows = _COUNTED.for_user_or_guest(user)
        return found

    def matching(self, rows: Rows, word: str) -> Rows:
        """By name, cluster or address."""
        return rows.filter(
            Q(name__icontains=word)
            | Q(cluster__name__icontains=word)
            | Q(address__icontains=word)
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Everything stands in every row."""
        del column, user
        return rows

    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Everything stands in the rows."""
        del user
        values = [VALUES[key] for key in wanted]
        found = (dict(zip(FIELDS, row, strict=True)) for row in rows)
        return [
            TableRow(pk=row["pk"], values=tuple(value(row) for value in values))
            for row in found
        ]


def _name(row: Mapping[str, Any]) -> Link:
    return Link(
        url=address_of("host", row["pk"]),
        text=row["name"],
        note=row["cluster__name"],
    )


VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "name": _name,
    "state": lambda row: State("host", row["reachability"]),
    "platform": lambda row: row["platform"],
    "devices": lambda row: row["devices_here"],
    "booked": lambda row: row["booked_here"],
    "docker": lambda row: row["docker_version"],
    "clock": lambda row: row["clock_offset_ms"],
    "seen": lambda row: row["seen_at"],
    "why": lambda row: say(row["reason"]),
    "cluster": lambda row: row["cluster__name"],
    "architecture": lambda row: row["architecture"],
}

HOSTS = HostTable()

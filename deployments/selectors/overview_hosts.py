"""The hosts of the overview: those to look at first, and sums of all."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import (
    Case,
    Count,
    DateTimeField,
    IntegerField,
    Model,
    OuterRef,
    Q,
    Subquery,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.functions import Abs, Coalesce
from django.utils import timezone

from deployments.models import ANSWERING, Booking, Device, Host, Reachability, User
from deployments.selectors.fleet import CLOCK_WARNING_MS, HostLine, host_lines
from deployments.selectors.host_access import WARNED_BEFORE, way_ends
from deployments.selectors.ready_rows import Given, asked_by, ready_models
from deployments.selectors.shortlist import Shortlist


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsSummary:
    """The first hosts, and how many hosts and devices there are in all.

    ``certificates`` are hosts whose way closes soon since a certificate on it ends.
    """

    first: tuple[HostLine, ...] = ()
    total: int = 0
    silent: int = 0
    degraded: int = 0
    device_count: int = 0
    booked: int = 0
    certificates: Shortlist = field(default_factory=Shortlist)

    @property
    def more(self) -> int:
        """Hosts that the short list leaves out."""
        return self.total - len(self.first)


def hosts_summary(user: User, most: int) -> HostsSummary:
    """The person's hosts, silent ones and wrong clocks first, in three queries."""
    key = ("hosts to look at", asked_by(user), most)
    edge = timezone.now() + WARNED_BEFORE
    rows = ready_models(
        key, lambda: _to_look_at(user, most), edge=edge, never=edge + WARNED_BEFORE
    )
    lines = host_lines(user, rows)
    if not lines:
        return HostsSummary()
    sums: Any = lines[0].row
    return HostsSummary(
        first=lines,
        total=sums.total,
        silent=sums.silent,
        degraded=sums.degraded,
        device_count=sums.devices_of_all,
        booked=sums.booked_of_all,
        certificates=Shortlist(
            rows=[line.row for line in lines][: sums.ending], total=sums.ending
        ),
    )


def _to_look_at(user: User, most: int) -> Any:  # noqa: ANN401 - annotated rows
    silent = ~Q(reachability__in=ANSWERING)
    degraded = Q(reachability=Reachability.DEGRADED)
    ending = Q(way_ends__lt=Given("edge", DateTimeField()))
    wrong = Q(clock__gt=CLOCK_WARNING_MS)
    held = _counted(Booking, device__isnull=False, released_at=None)
    return (
        Host.objects.filter(pk__in=Host.objects.for_user(user).values("pk"))
        .annotate(clock=Abs(Coalesce("clock_offset_ms", 0)))
        .annotate(way_ends=way_ends(Given("never", DateTimeField())))
        .annotate(
            urgency=Case(
                When(ending, then=Value(0)),
                When(silent, then=Value(1)),
                When(degraded | wrong, then=Value(2)),
                default=Value(3),
            ),
            ending=Window(Sum(Case(When(ending, then=Value(1)), default=Value(0)))),
            total=Window(Count("pk")),
            silent=Window(Sum(Case(When(silent, then=Value(1)), default=Value(0)))),
            degraded=Window(Sum(Case(When(degraded, then=Value(1)), default=Value(0)))),
            devices_of_all=Window(Sum(_counted(Device))),
            booked_of_all=Window(Sum(held)),
        )
        .order_by("urgency", "name")[:most]
    )


def _counted(model: type[Model], **wanted: object) -> Coalesce:
    """How many rows of a model a host has."""
    rows = (
        model._default_manager.filter(host=OuterRef("pk"), **wanted)
        .order_by()
        .values("host")
        .annotate(count=Count("pk"))
        .values("count")
    )
    return Coalesce(Subquery(rows, output_field=IntegerField()), 0)

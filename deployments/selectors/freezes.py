"""Which freeze windows hold for a cluster or a request, and what may start in spite of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.dates import WEEKDAYS_ABBR

from deployments.models import ApprovalRequest, Cluster, FreezeWindow, Release, Team
from deployments.planning.freezing import (
    Freeze,
    Repeat,
    Window,
    WindowKind,
    freeze_at,
)
from deployments.selectors.texts import listed

WAY_BACK = timedelta(hours=72)
"""How long after a release became live its team may go back to what served before."""


def database_now() -> datetime:
    """The clock of the database server, which all workers share."""
    now: datetime = (
        Team.objects.annotate(now=Now()).values_list("now", flat=True)[:1].get()
    )
    return now


def window_of(row: FreezeWindow) -> Window:
    """A row as a value."""
    return Window(
        name=row.name,
        kind=WindowKind(row.kind),
        time_zone=row.time_zone,
        begins=datetime.combine(row.first_day, row.begins),
        minutes=row.minutes,
        repeat=Repeat(row.repeat),
        weekdays=tuple(row.weekdays),
        last_day=row.last_day,
    )


def windows_of(cluster: Cluster) -> QuerySet[FreezeWindow]:
    """The windows that somebody made for the cluster or its whole team, ended ones included."""
    return FreezeWindow.objects.filter(
        Q(cluster=cluster) | Q(cluster=None), team=cluster.team_id
    ).select_related("created_by", "ended_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLine:
    """A window as people read it; it lasts so many seconds."""

    row: FreezeWindow
    weekdays: str
    seconds: int


def window_lines(cluster: Cluster) -> list[WindowLine]:
    """Every window of the cluster, by name."""
    return [
        WindowLine(
            row=row,
            weekdays=listed(WEEKDAYS_ABBR[day] for day in row.weekdays),
            seconds=row.minutes * 60,
        )
        for row in windows_of(cluster)
    ]


def freeze_of_cluster(cluster: Cluster, now: datetime) -> Freeze | None:
    """What forbids a new request to start on the cluster at this moment."""
    rows = windows_of(cluster).filter(ended_at=None)
    return freeze_at([[window_of(row) for row in rows]], now)


def freeze_of(request: ApprovalRequest, now: datetime) -> Freeze | None:
    """What forbids the request to start at this moment; one query.

    The windows of today have to allow it, and those that held when it was made: ending a window,
    or adding an allowed time, opens no way for a request that was made before.
    """
    made = request.created_at
    cluster = request.plan.revision.deployment.cluster
    rows = list(windows_of(cluster).filter(Q(ended_at=None) | Q(ended_at__gt=made)))
    today = [window_of(row) for row in rows if row.ended_at is None]
    then = [window_of(row) for row in rows if row.created_at <= made]
    return freeze_at([today, then], now)


def goes_back(request: ApprovalRequest, now: datetime, below: int | None) -> bool:
    """Whether releasing the request restores what served last, or goes back to what served before.

    A freeze does not forbid either. The way back is open for 72 hours after the last one became
    live. ``below`` is the number of the release itself, once it has one.
    """
    served = Release.objects.filter(
        deployment=request.plan.revision.deployment_id, live_at__isnull=False
    ).order_by("-number")
    if below is not None:
        served = served.filter(number__lt=below)
    last = served.first()
    if last is None:
        return False
    if last.plan_id == request.plan_id:
        return True
    before = served.exclude(plan=last.plan_id).first()
    in_time = last.live_at is not None and last.live_at > now - WAY_BACK
    return in_time and before is not None and before.plan_id == request.plan_id

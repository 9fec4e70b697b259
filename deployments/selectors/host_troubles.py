"""What the hosts of live deployments do to telemetry: logs thrown away soon, clocks that are off."""

import uuid
from collections.abc import Collection

from django.db.models import Min, Sum

from deployments.models import LogCursor, Reachability, ReleaseState, Replica
from deployments.selectors.acceptance_events import WITHOUT_DRAFTS
from deployments.telemetry.host_signs import ClockOff, LogGrowth


def soonest_lost_logs(deployments: Collection[uuid.UUID]) -> dict[uuid.UUID, LogGrowth]:
    """Of each deployment the container whose log is thrown away soonest."""
    logs = (
        LogCursor.objects.filter(
            replica__release__deployment__in=deployments,
            replica__release__state=ReleaseState.LIVE,
            finished=False,
            bytes_per_s__isnull=False,
            kept_bytes__isnull=False,
        )
        .exclude(replica__role__in=WITHOUT_DRAFTS)
        .values("replica__release__deployment_id", "replica__container_name")
        .annotate(rate=Sum("bytes_per_s"), kept=Min("kept_bytes"))
        .order_by()
    )
    worst: dict[uuid.UUID, LogGrowth] = {}
    for pk, name, rate, kept in logs.values_list(
        "replica__release__deployment_id", "replica__container_name", "rate", "kept"
    ):
        found = LogGrowth(container=name, bytes_per_s=rate, kept_bytes=kept)
        if pk not in worst or found.kept_s < worst[pk].kept_s:
            worst[pk] = found
    return worst


def worst_clocks(deployments: Collection[uuid.UUID]) -> dict[uuid.UUID, ClockOff]:
    """Of each deployment the host whose clock is furthest off."""
    hosts = Replica.objects.filter(
        release__deployment__in=deployments,
        release__state=ReleaseState.LIVE,
        host__reachability__in=(Reachability.REACHABLE, Reachability.DEGRADED),
    ).exclude(role__in=WITHOUT_DRAFTS)
    worst: dict[uuid.UUID, ClockOff] = {}
    for pk, name, offset_ms in hosts.values_list(
        "release__deployment_id", "host__name", "host__clock_offset_ms"
    ).distinct():
        if offset_ms is None:
            continue
        if pk not in worst or abs(offset_ms) > abs(worst[pk].offset_ms):
            worst[pk] = ClockOff(host=name, offset_ms=offset_ms)
    return worst

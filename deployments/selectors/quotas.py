"""The devices that a team holds or asks for on a cluster, against its quota."""

import uuid
from dataclasses import dataclass

from django.db.models import Min

from deployments.models import (
    ApprovalRequest,
    Booking,
    Cluster,
    DeviceQuota,
    Plan,
    Release,
    RequestState,
    Team,
)
from deployments.planning.errors import PlanningError
from deployments.selectors.plans import stored_plan

Places = frozenset[tuple[str, int]]
"""Devices by host and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """How many devices of a cluster a team has: ``booked`` by releases, ``asked`` for by requests.

    What the deployment of a request has booked already is not asked for once more; ``wanted`` is
    what one request asks for, which then is not among ``asked``.
    """

    booked: int
    asked: int
    wanted: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.booked + self.asked + self.wanted


def quota_of(team: Team, cluster: Cluster) -> DeviceQuota | None:
    """The limit of a team on a cluster; ``None`` where there is none."""
    return DeviceQuota.objects.filter(team=team, cluster=cluster).first()


def devices_of(row: Plan) -> Places:
    """The devices that a stored plan takes; none where it cannot be read any more."""
    try:
        value = stored_plan(row)
    except PlanningError:
        return frozenset()
    return frozenset(
        (replica.host, number)
        for replica in value.replicas
        for number in replica.devices
    )


def holdings(
    team: Team, cluster: Cluster, request: ApprovalRequest | None = None
) -> Holdings:
    """What the team's releases have booked, and its live requests ask for; ``request`` apart."""
    booked: dict[uuid.UUID, Places] = {}
    for deployment, place in _booked(team, cluster):
        booked[deployment] = booked.get(deployment, frozenset()) | {place}
    live = ApprovalRequest.objects.filter(
        plan__revision__deployment__cluster=cluster,
        plan__revision__deployment__team=team,
        state__in=[RequestState.OPEN, RequestState.APPROVED],
    ).select_related("plan__revision")
    asked = wanted = 0
    for one in live:
        mine = booked.get(one.plan.revision.deployment_id, frozenset())
        more = len(devices_of(one.plan) - mine)
        if request is not None and one.pk == request.pk:
            wanted = more
        else:
            asked += more
    total = sum(map(len, booked.values()))
    return Holdings(booked=total, asked=asked, wanted=wanted)


def booked_before(release: Release) -> Places:
    """What other releases of the team booked before this one, and hold; all where it has none."""
    held = _booked(release.deployment.team, release.deployment.cluster, release)
    return frozenset(place for _one, place in held)


def _booked(
    team: Team, cluster: Cluster, before: Release | None = None
) -> list[tuple[uuid.UUID, tuple[str, int]]]:
    rows = Booking.objects.filter(
        host__cluster=cluster,
        replica__release__deployment__team=team,
        released_at=None,
        device__isnull=False,
    )
    if before is not None:
        own = Booking.objects.filter(
            replica__release=before, released_at=None, device__isnull=False
        ).aggregate(first=Min("created_at"))
        rows = rows.exclude(replica__release=before)
        if own["first"] is not None:
            rows = rows.filter(created_at__lte=own["first"])
    named = rows.values_list("replica__release__deployment_id", "host__name", "device")
    return [
        (deployment, (host, device))
        for deployment, host, device in named
        if device is not None
    ]

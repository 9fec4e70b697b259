"""How long starting took before: the same deployment on the same hosts is the best guess for the next time."""

import uuid
from collections.abc import Collection
from datetime import datetime
from statistics import median

from deployments.models import EventKind, Release, ReleaseEvent, ReleaseState

NEWEST = 24
"""Events of earlier starts that are read: some dozen replicas, the newest first."""


def usual_start(release: Release, hosts: Collection[uuid.UUID]) -> float | None:
    """Seconds from a container's start until it answered, as the median of its newest starts there.

    ``None`` for a release that is not starting, and where nothing of the deployment started before.
    """
    if release.state != ReleaseState.STARTING:
        return None
    rows = (
        ReleaseEvent.objects.filter(
            release__deployment=release.deployment_id,
            replica__host__in=hosts,
            step__in=["START", "WAIT_READY"],
            kind=EventKind.DONE,
        )
        .exclude(release=release)
        .order_by("-created_at")
        .values_list("replica", "step", "created_at")[:NEWEST]
    )
    started: dict[uuid.UUID | None, datetime] = {}
    ready: dict[uuid.UUID | None, datetime] = {}
    for replica, step, at in rows:
        (started if step == "START" else ready).setdefault(replica, at)
    took = [
        (ready[one] - started[one]).total_seconds() for one in ready if one in started
    ]
    return median(took) if took else None

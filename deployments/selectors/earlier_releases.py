"""What of a deployment can be released again: after drift, or to go back to an earlier revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, When

from deployments.models import (
    CHANGING_STATES,
    Booking,
    Cluster,
    Deployment,
    Release,
    ReleaseState,
    RequestState,
)
from deployments.planning.plan import Plan
from deployments.selectors.planning_inputs import host_snapshots

ENDED = (
    ReleaseState.FAILED,
    ReleaseState.BLOCKED,
    ReleaseState.CANCELLED,
    ReleaseState.STOPPED,
)
LOOKED_AT = 50
"""Releases back from the newest among which the way back is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Releases whose plans may be released once more: ``again`` the shown one, ``back`` an earlier one.

    ``restores`` says that the shown one drifted, so that releasing it again restores it.
    """

    again: Release | None = None
    back: Release | None = None
    restores: bool = False


NOTHING_AGAIN = Repeats()


def replaced_by_next(deployment: Deployment) -> Release | None:
    """The release that a new one takes the place of: the live one, else a lost one that holds a part."""
    held = Booking.objects.filter(replica__release=OuterRef("pk"), released_at=None)
    return (
        deployment.releases.filter(
            Q(state=ReleaseState.LIVE) | Q(Exists(held), state=ReleaseState.FAILED)
        )
        .order_by(Case(When(state=ReleaseState.LIVE, then=0), default=1), "-number")
        .first()
    )


def changed_hosts(plan: Plan, cluster: Cluster) -> list[str]:
    """The hosts of a plan that are gone or no longer as they were when it was made."""
    names = {replica.host for replica in plan.replicas}
    hosts = cluster.hosts.filter(name__in=names)
    now = {one.name: one.digest for one in host_snapshots(hosts)}
    planned = dict(plan.snapshot_digests)
    return sorted(name for name in names if now.get(name) != planned.get(name))


def recent_releases(deployment: UUID) -> list[Release]:
    """The live release of a deployment, if there is one, and the newest ones, without their plans."""
    live_first = Case(When(state=ReleaseState.LIVE, then=0), default=1)
    return list(
        Release.objects.filter(deployment=deployment)
        .select_related("plan__revision", "request")
        .defer("plan__document", "plan__revision__document")
        .order_by(live_first, "-number")[:LOOKED_AT]
    )


def repeats_of(
    release: Release, recent: Sequence[Release], *, drifted: bool
) -> Repeats:
    """What may be asked for where a release is shown; nothing while one is changing.

    ``recent`` is as ``recent_releases`` gives it.
    """
    rows = sorted(recent, key=lambda row: -row.number)
    if any(row.state in CHANGING_STATES for row in rows):
        return NOTHING_AGAIN
    live = next((row for row in rows if row.state == ReleaseState.LIVE), None)
    here = next((row for row in rows if row.pk == release.pk), None)
    if here is None or here not in {live, rows[0]}:
        return NOTHING_AGAIN
    ended = here.state in ENDED or drifted
    repeatable = ended and here.request.state == RequestState.RELEASED
    serves = here is live or live is None
    return Repeats(
        again=here if repeatable else None,
        back=_before(here, rows) if serves else None,
        restores=drifted,
    )


def _before(here: Release, rows: Sequence[Release]) -> Release | None:
    """The newest earlier release of another plan that was live."""
    return next(
        (
            row
            for row in rows
            if row.number < here.number
            and row.plan_id != here.plan_id
            and row.live_at is not None
            and row.request.state == RequestState.RELEASED
        ),
        None,
    )


def repeatable_releases(
    shown: Release | None, releases: Sequence[Release]
) -> frozenset[object]:
    """Keys of the releases of a history, newest first, that may be gone back to: each plan once.

    What is shown is left out: it serves, or has a button of its own.
    """
    if any(row.state in CHANGING_STATES for row in releases):
        return frozenset()
    seen = {shown.plan_id} if shown else set()
    found = set()
    for row in releases:
        if row.plan_id in seen or row.live_at is None:
            continue
        if row.request.state == RequestState.RELEASED:
            found.add(row.pk)
            seen.add(row.plan_id)
    return frozenset(found)

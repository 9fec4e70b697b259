"""Who holds what a release needs, who came earlier, and so the place of a release in the queue."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    Booking,
    Host,
    QueuedBooking,
    Release,
    ReleaseState,
)

Need = tuple[UUID, str, int]
"""The id of a host, ``device`` or ``port``, and its number there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A device or port that a release has to wait for, and the release that is before it there.

    ``queued`` says that it does not hold it either: it waits for it, and came earlier. Of a
    ``foreign`` one, which is of another team, is not said which it is.
    """

    host: Host
    kind: str
    number: int
    release: Release
    queued: bool
    foreign: bool = False

    @property
    def thing(self) -> str:
        """What is held, in words."""
        said = (
            _("Device %(number)s of %(host)s")
            if self.kind == "device"
            else _("Port %(number)s of %(host)s")
        )
        return said % {"number": self.number, "host": self.host.name}

    @property
    def changing(self) -> bool:
        """Whether the other release comes to an end or to live by itself."""
        return self.release.state in CHANGING_STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """Where a release stands in the queue.

    ``position`` counts the queued releases that want any of the same, from 1; ``behind`` is what it
    waits for, each device and port once.
    """

    position: int
    behind: tuple[Obstacle, ...]

    @property
    def facts(self) -> list[object]:
        """What a page shows of it, as values that JSON knows."""
        behind = [
            [one.kind, one.number, str(one.release.pk), one.release.state]
            for one in self.behind
        ]
        return [self.position, behind]


def obstacles(release: Release, needs: Iterable[Need]) -> tuple[Obstacle, ...]:
    """What keeps a release from holding what it needs.

    What another release of its own deployment holds is handed over, so nobody who waits for it is
    before this one. Two reads, however much it needs.
    """
    needs = frozenset(needs)
    waiting = _waiting({host for host, _kind, _number in needs})
    return _obstacles(release, needs, _earlier(release, needs, waiting))


def queue_place(release: Release, hosts: Iterable[UUID]) -> QueuePlace | None:
    """The place in the queue of a release on these hosts; ``None`` for one that does not wait."""
    if release.state != ReleaseState.QUEUED or release.queued_at is None:
        return None
    waiting = _waiting(set(hosts))
    needs = frozenset(
        need_of(row) for row in waiting if row.replica.release_id == release.pk
    )
    if not needs:
        return None
    earlier = _earlier(release, needs, waiting)
    return QueuePlace(
        position=len({row.replica.release_id for row in earlier}) + 1,
        behind=_obstacles(release, needs, earlier),
    )


def _obstacles(
    release: Release, needs: frozenset[Need], earlier: list[QueuedBooking]
) -> tuple[Obstacle, ...]:
    hosts = {host for host, _kind, _number in needs}
    rows = Booking.objects.filter(host__in=hosts, released_at=None)
    held = {
        need_of(row): row
        for row in rows.select_related("host", "replica__release__deployment")
    }
    own = {
        need
        for need, row in held.items()
        if row.replica.release.deployment_id == release.deployment_id
    }
    found = {
        need: _obstacle(held[need], need, queued=False)
        for need in needs & held.keys() - own
    }
    for row in earlier:
        need = need_of(row)
        if need not in own:
            found.setdefault(need, _obstacle(row, need, queued=True))
    team = release.deployment.team_id
    named = [
        replace(one, foreign=one.release.deployment.team_id != team)
        for one in found.values()
    ]
    return tuple(sorted(named, key=lambda one: (one.host.name, one.kind, one.number)))


def _waiting(hosts: set[UUID]) -> list[QueuedBooking]:
    """What anybody waits for on these hosts, in the order of arrival."""
    rows = QueuedBooking.objects.filter(host__in=hosts).select_related(
        "host", "replica__release__deployment"
    )
    return list(rows.order_by("replica__release__queued_at", "replica__release"))


def _earlier(
    release: Release, needs: frozenset[Need], waiting: list[QueuedBooking]
) -> list[QueuedBooking]:
    """Who waits for any of these and came before the release: all of them, if it only comes."""

    def came_before(other: Release) -> bool:
        if other.queued_at is None or other.pk == release.pk:
            return False
        if release.queued_at is None:
            return True
        return (other.queued_at, other.pk) < (release.queued_at, release.pk)

    return [
        row
        for row in waiting
        if need_of(row) in needs and came_before(row.replica.release)
    ]


def need_of(row: Booking | QueuedBooking) -> Need:
    """What a booking is of."""
    if row.device is not None:
        return row.host_id, "device", row.device
    return row.host_id, "port", row.port or 0


def _obstacle(row: Booking | QueuedBooking, need: Need, *, queued: bool) -> Obstacle:
    _host, kind, number = need
    return Obstacle(
        host=row.host,
        kind=kind,
        number=number,
        release=row.replica.release,
        queued=queued,
    )

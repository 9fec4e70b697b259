"""What explains a course of acceptance: releases and changed settings, lost lines, what was running."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import (
    BooleanField,
    CharField,
    DateTimeField,
    Exists,
    F,
    OuterRef,
    Value,
)

from deployments.models import Deployment, LogCursor, LogGap, Release, Replica
from deployments.planning.plan import Role
from deployments.selectors.acceptance_range import NANOSECONDS, Range

MOST_RELEASES = 100
WITHOUT_DRAFTS = (Role.PREFILL, Role.ROUTER)
GAP, RUN = "gap", "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A release that went live in the range; ``before`` ran until then with other settings."""

    at: datetime
    release: Release
    before: Release | None = None

    @property
    def kind(self) -> str:
        """``setting`` when method or count changed, else ``release``."""
        return "setting" if self.before else "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Log lines that were gone before they were read, in nanoseconds."""

    from_ns: int
    to_ns: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A time in which a release was live, or in which a replica ran and was read, in nanoseconds."""

    from_ns: int
    to_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A replica whose log is not being read; ``since`` is ``None`` where it never was in the range."""

    replica: Replica
    since: datetime | None

    @property
    def name(self) -> str:
        """Like ``decode-0``."""
        return f"{self.replica.role}-{self.replica.rank}"


def unread_replicas(
    live: Release,
    replicas: Iterable[Replica],
    read: Mapping[uuid.UUID, datetime],
    edge: datetime,
) -> tuple[Unread, ...]:
    """The replicas of what is live that draft and whose logs were last ``read`` before ``edge``.

    None where not one is read: that is no part that is missing but everything.
    """
    if live.live_at is None or live.live_at >= edge:
        return ()
    found = [
        Unread(replica=one, since=read.get(one.pk))
        for one in replicas
        if one.role not in WITHOUT_DRAFTS
    ]
    late = tuple(one for one in found if one.since is None or one.since < edge)
    return late if len(late) < len(found) else ()


def releases_until(
    deployment: Deployment, end: datetime, *, canaries: bool = True
) -> list[Release]:
    """Releases that went live before the end, oldest first; those with a canary only if asked for."""
    found = deployment.releases.filter(live_at__isnull=False, live_at__lte=end)
    if not canaries:
        trying = Replica.objects.filter(release=OuterRef("pk"), canary=True)
        found = found.exclude(Exists(trying))
    rows = (
        found.select_related("plan__revision")
        .defer("plan__document", "plan__revision__document")
        .order_by("-live_at")[:MOST_RELEASES]
    )
    return list(rows)[::-1]


def markers_of(releases: Iterable[Release], one: Range) -> tuple[Marker, ...]:
    """Those that went live within the range, with what they changed."""
    markers: list[Marker] = []
    before: Release | None = None
    for row in releases:
        if row.live_at and row.live_at > one.start:
            changed = before if before and _setting(before) != _setting(row) else None
            markers.append(Marker(at=row.live_at, release=row, before=changed))
        before = row
    return tuple(markers)


def live_times(releases: Iterable[Release], one: Range) -> tuple[Stretch, ...]:
    """When any of them was live, up to the end of the range."""
    return tuple(
        Stretch(
            from_ns=round(row.live_at.timestamp() * NANOSECONDS),
            to_ns=round((row.ended_at or one.end).timestamp() * NANOSECONDS),
        )
        for row in releases
        if row.live_at
    )


def _setting(release: Release) -> tuple[str, int | None]:
    return release.plan.method, release.plan.num_speculative_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the logs of a range were read: what was lost, when any was, and each replica's last time."""

    lost: tuple[Lost, ...]
    seen: tuple[Stretch, ...]
    read: Mapping[uuid.UUID, datetime]


def reading_of(deployment: Deployment, one: Range) -> Reading:
    """Lost lines in the range, and when replicas that draft ran and were read; one query."""
    lost = LogGap.objects.filter(
        replica__release__deployment=deployment,
        from_ns__lt=one.end_ns,
        to_ns__gt=one.start_ns,
    ).values_list(
        Value(GAP, output_field=CharField()),
        "from_ns",
        "to_ns",
        "reason",
        Value(None, output_field=DateTimeField()),
        Value(value=False, output_field=BooleanField()),
        "replica",
    )
    runs = (
        LogCursor.objects.filter(
            replica__release__deployment=deployment, read_at__gte=one.start
        )
        .exclude(replica__role__in=WITHOUT_DRAFTS)
        .values_list(
            Value(RUN, output_field=CharField()),
            F("timestamp_ns"),
            F("timestamp_ns"),
            "run_started_at",
            "read_at",
            "finished",
            "replica",
        )
    )
    gaps: list[Lost] = []
    seen: set[tuple[int, int]] = set()
    read: dict[uuid.UUID, datetime] = {}
    rows = lost.order_by().union(runs.order_by(), all=True)
    for kind, from_ns, to_ns, words, read_at, finished, replica in rows:
        if kind == GAP:
            gaps.append(Lost(from_ns=from_ns, to_ns=to_ns, reason=words))
            continue
        read[replica] = max(read.get(replica, read_at), read_at)
        read_ns = round(read_at.timestamp() * NANOSECONDS)
        seen.add((_started_ns(words), to_ns if finished and to_ns else read_ns))
    gaps.sort(key=lambda gap: gap.from_ns)
    stretches = (Stretch(from_ns=a, to_ns=b) for a, b in sorted(seen) if a < b)
    return Reading(lost=tuple(gaps), seen=tuple(stretches), read=read)


def _started_ns(text: str) -> int:
    """The engine's StartedAt, to the second; 0 where it is none, which is before everything."""
    try:
        moment = datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
    except ValueError:
        return 0
    return round(moment.timestamp()) * NANOSECONDS

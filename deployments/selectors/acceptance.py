"""Acceptance history of deployments: sums of stored samples, and nothing that is not in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import F, QuerySet

from deployments.models import (
    AcceptanceSample,
    Deployment,
    LogGap,
    Release,
)
from deployments.planning.plan import Role
from deployments.telemetry.acceptance_history import (
    Bucket,
    Counts,
    Sample,
    bucket_samples,
    total,
)
from deployments.telemetry.advice import Advice, advise

NANOSECONDS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A range that people may pick: ``steps`` buckets of ``step_s`` seconds."""

    key: str
    step_s: int
    steps: int

    def end_after(self, now: datetime) -> int:
        """The next full step after ``now`` in nanoseconds, so that steps lie on round times."""
        step = self.step_s * NANOSECONDS
        return -(-round(now.timestamp() * NANOSECONDS) // step) * step

    @property
    def length_ns(self) -> int:
        """The whole range in nanoseconds."""
        return self.step_s * self.steps * NANOSECONDS


SPANS = {
    span.key: span
    for span in (
        Span(key="1h", step_s=60, steps=60),
        Span(key="6h", step_s=300, steps=72),
        Span(key="24h", step_s=900, steps=96),
        Span(key="7d", step_s=3600, steps=168),
    )
}
DEFAULT_SPAN = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One sample with the release that it belongs to."""

    release_id: UUID
    sample: Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBar:
    """One draft position over the range; ``rate`` is accepted / drafts."""

    position: int
    accepted: int
    drafts: int

    @property
    def rate(self) -> float:
        """The share of drafts in which this position was accepted, from 0 to 1."""
        return self.accepted / self.drafts

    @property
    def width(self) -> str:
        """The share as the per cent of a drawing, with a point whatever the language."""
        return f"{self.rate * 100:.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One step of the table; ``counts`` is ``None`` when nothing was drafted."""

    start: datetime
    counts: Counts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A release that went live in the range."""

    at: datetime
    release: Release


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The acceptance history of one deployment over one range.

    ``totals`` are the sums of all samples in the range but those of prefill replicas, which decode
    one token a request; ``judged`` are those of the live release, which the advice is about.
    """

    span: Span
    start_ns: int
    end_ns: int
    buckets: tuple[Bucket, ...]
    totals: Counts
    windows: int
    judged: Counts
    judged_windows: int
    positions: tuple[PositionBar, ...]
    markers: tuple[Marker, ...]
    log_gaps: tuple[LogGap, ...]
    advice: Advice

    @property
    def start(self) -> datetime:
        """When the range begins."""
        return moment_of(self.start_ns)

    @property
    def end(self) -> datetime:
        """When the range ends."""
        return moment_of(self.end_ns)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The steps as the table shows them, newest first."""
        return tuple(
            Row(start=moment_of(bucket.start_ns), counts=bucket.counts)
            for bucket in reversed(self.buckets)
        )


def moment_of(nanoseconds: int) -> datetime:
    """A time stamp of the engine as a time, to the microsecond."""
    return datetime.fromtimestamp(nanoseconds // 1000 / 10**6, tz=UTC)


def history(
    deployment: Deployment, live: Release | None, span: Span, end_ns: int
) -> History:
    """Read the history in three queries."""
    start_ns = end_ns - span.length_ns
    stored = list(_samples(deployment, start_ns, end_ns))
    now_live = [one for one in stored if live and one.release_id == live.pk]
    judged = total(one.sample.counts for one in now_live)
    return History(
        span=span,
        start_ns=start_ns,
        end_ns=end_ns,
        buckets=bucket_samples(
            (one.sample for one in stored), start_ns, end_ns, span.steps
        ),
        totals=total(one.sample.counts for one in stored),
        windows=len(stored),
        judged=judged,
        judged_windows=len(now_live),
        positions=_positions(judged),
        markers=_markers(deployment, start_ns, end_ns),
        log_gaps=tuple(
            LogGap.objects.filter(
                replica__release__deployment=deployment,
                from_ns__lt=end_ns,
                to_ns__gt=start_ns,
            )
        ),
        advice=advise(
            live.plan.method if live else None,
            live.plan.num_speculative_tokens if live else None,
            judged,
        ),
    )


def _judgeable() -> QuerySet[AcceptanceSample]:
    return AcceptanceSample.objects.exclude(replica__role=Role.PREFILL)


def _samples(deployment: Deployment, start_ns: int, end_ns: int) -> Iterator[Stored]:
    rows = (
        _judgeable()
        .filter(
            deployment=deployment, timestamp_ns__gt=start_ns, timestamp_ns__lte=end_ns
        )
        .annotate(release_id=F("replica__release_id"))
        .values_list(
            "release_id",
            "timestamp_ns",
            "window_s",
            "accepted",
            "drafted",
            "num_drafts",
            "per_position",
        )
    )
    for release_id, at, window, accepted, drafted, drafts, positions in rows:
        counts = Counts(
            accepted=accepted,
            drafted=drafted,
            num_drafts=drafts,
            per_position=tuple(positions),
        )
        start = at - round((window or 0) * NANOSECONDS)
        yield Stored(
            release_id=release_id,
            sample=Sample(start_ns=start, end_ns=at, counts=counts),
        )


def _positions(counts: Counts) -> tuple[PositionBar, ...]:
    if not counts.num_drafts:
        return ()
    return tuple(
        PositionBar(position=place, accepted=accepted, drafts=counts.num_drafts)
        for place, accepted in enumerate(counts.per_position, start=1)
    )


def _markers(deployment: Deployment, start_ns: int, end_ns: int) -> tuple[Marker, ...]:
    rows = (
        deployment.releases.filter(
            live_at__gt=moment_of(start_ns), live_at__lte=moment_of(end_ns)
        )
        .select_related("plan__revision")
        .order_by("live_at")
    )
    return tuple(Marker(at=row.live_at, release=row) for row in rows if row.live_at)

"""Acceptance of many deployments at once, summed in the database: for the overview."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    OuterRef,
    QuerySet,
    Sum,
    TextField,
    Value,
)
from django.db.models.functions import Cast, Coalesce

from deployments.models import AcceptanceSample, Replica
from deployments.planning.plan import Role
from deployments.selectors.plain_rows import plain_rows
from deployments.telemetry.acceptance_history import NOTHING, Counts, total

SECOND_NS = 1_000_000_000
SPAN_NS = 24 * 3600 * SECOND_NS
BUCKETS = 48
BUCKET_NS = SPAN_NS // BUCKETS
POSITIONS_SPAN_NS = 3600 * SECOND_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceSummary:
    """What one deployment's decode and combined replicas accepted in the last 24 hours.

    ``lengths`` holds the mean acceptance length of each half hour, ``None`` where nothing was
    drafted; ``positions`` the accepted shares of the last hour by draft position.
    """

    counts: Counts = NOTHING
    lengths: tuple[float | None, ...] = (None,) * BUCKETS
    positions: tuple[float, ...] | None = None
    newest_ns: int | None = None


Bucket: TypeAlias = tuple[str, int, int, int, int, int, int]
"""A half hour of a deployment: its id as text, its place, accepted, drafted, drafts, windows whose
drafts are unknown, and the newest time in nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """What a line of a list shows of the last 24 hours; ``None`` where nothing was drafted.

    ``course`` is the mean acceptance length of each half hour.
    """

    course: tuple[float | None, ...] = (None,) * BUCKETS
    mean_acceptance_length: float | None = None
    acceptance_rate: float | None = None


def lengths_of(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[uuid.UUID, Lengths]:
    """The course of each deployment, in one query for any number of them.

    Prefill replicas are left out: they decode one token per request.
    """
    buckets = _buckets(deployments, now_ns)
    return {pk: _lengths(rows) for pk, rows in buckets.items()}


def _buckets(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[uuid.UUID, list[Bucket]]:
    buckets: dict[uuid.UUID, list[Bucket]] = {pk: [] for pk in deployments}
    # An id is text with dashes in PostgreSQL and without them in SQLite.
    by_text = {text: rows for pk, rows in buckets.items() for text in (str(pk), pk.hex)}
    for row in plain_rows(_sums(deployments, now_ns)):
        by_text[row[0]].append(row)
    return buckets


def _lengths(buckets: Iterable[Bucket]) -> Lengths:
    course: list[float | None] = [None] * BUCKETS
    all_accepted = all_drafted = all_drafts = all_unknown = 0
    for _pk, place, accepted, drafted, drafts, unknown, _newest in buckets:
        all_accepted += accepted
        all_drafted += drafted
        all_drafts += drafts
        all_unknown += unknown
        if drafts and not unknown:
            course[place] = 1 + accepted / drafts
    complete = all_drafts and not all_unknown
    return Lengths(
        course=tuple(course),
        mean_acceptance_length=1 + all_accepted / all_drafts if complete else None,
        acceptance_rate=all_accepted / all_drafted if all_drafted else None,
    )


def _sums(
    deployments: Collection[uuid.UUID], now_ns: int
) -> QuerySet[AcceptanceSample, Bucket]:
    start = now_ns - SPAN_NS
    place = ExpressionWrapper(
        (F("timestamp_ns") - Value(start + 1)) / Value(BUCKET_NS),
        output_field=BigIntegerField(),
    )
    whole = BigIntegerField()
    return (
        _judged(deployments, start, now_ns)
        .filter(drafted__gt=0)
        .annotate(place=place, owner=Cast("deployment_id", TextField()))
        .values("owner", "place")
        .annotate(
            all_accepted=Cast(Sum("accepted"), whole),
            all_drafted=Cast(Sum("drafted"), whole),
            all_drafts=Cast(Coalesce(Sum("num_drafts"), 0), whole),
            unknown=Count("pk") - Count("num_drafts"),
            newest=Max("timestamp_ns"),
        )
        .values_list(
            "owner",
            "place",
            "all_accepted",
            "all_drafted",
            "all_drafts",
            "unknown",
            "newest",
        )
        .order_by()
    )


def acceptance_of(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[uuid.UUID, AcceptanceSummary]:
    """Summaries by deployment, in two queries for any number of them.

    Prefill replicas are left out: they decode one token per request.
    """
    positions = _positions(deployments, now_ns)
    return {
        pk: _summary(buckets, positions.get(pk, NOTHING))
        for pk, buckets in _buckets(deployments, now_ns).items()
    }


def _summary(buckets: Sequence[Bucket], positions: Counts) -> AcceptanceSummary:
    if not buckets:
        return AcceptanceSummary()
    _pks, _places, accepted, drafted, drafts, unknown, newest = zip(
        *buckets, strict=True
    )
    return AcceptanceSummary(
        counts=Counts(
            accepted=sum(accepted),
            drafted=sum(drafted),
            num_drafts=None if any(unknown) else sum(drafts),
        ),
        lengths=_lengths(buckets).course,
        positions=positions.per_position_rates,
        newest_ns=max(newest),
    )


def _positions(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[uuid.UUID, Counts]:
    rows = (
        _judged(deployments, now_ns - POSITIONS_SPAN_NS, now_ns)
        .filter(drafted__gt=0)
        .values_list(
            "deployment_id", "accepted", "drafted", "num_drafts", "per_position"
        )
        .order_by()
    )
    windows: dict[uuid.UUID, list[Counts]] = {}
    for pk, accepted, drafted, drafts, positions in rows:
        counts = Counts(
            accepted=accepted,
            drafted=drafted,
            num_drafts=drafts,
            per_position=tuple(positions),
        )
        windows.setdefault(pk, []).append(counts)
    return {pk: total(each) for pk, each in windows.items()}


_OF_PREFILL = Exists(Replica.objects.filter(pk=OuterRef("replica"), role=Role.PREFILL))


def _judged(
    deployments: Collection[uuid.UUID], start_ns: int, end_ns: int
) -> QuerySet[AcceptanceSample]:
    return AcceptanceSample.objects.filter(
        deployment__in=deployments,
        timestamp_ns__gt=start_ns,
        timestamp_ns__lte=end_ns,
    ).filter(~_OF_PREFILL)

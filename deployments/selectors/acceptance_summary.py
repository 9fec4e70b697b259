"""Acceptance of many deployments at once, summed in the database: for the overview."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db.models import (
    BigIntegerField,
    Count,
    ExpressionWrapper,
    F,
    Max,
    QuerySet,
    Sum,
    Value,
)

from deployments.models import AcceptanceSample
from deployments.planning.plan import Role
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


def acceptance_of(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[uuid.UUID, AcceptanceSummary]:
    """Summaries by deployment, in two queries for any number of them.

    Prefill replicas are left out: they decode one token per request.
    """
    summaries = {pk: AcceptanceSummary() for pk in deployments}
    buckets = _counts_by_bucket(deployments, now_ns)
    positions = _positions(deployments, now_ns)
    for (pk, place), (counts, newest) in sorted(
        buckets.items(), key=lambda item: item[0][1]
    ):
        known = summaries[pk]
        lengths = list(known.lengths)
        lengths[place] = counts.mean_acceptance_length
        summaries[pk] = replace(
            known,
            counts=known.counts + counts,
            lengths=tuple(lengths),
            newest_ns=newest,
            positions=positions.get(pk, NOTHING).per_position_rates,
        )
    return summaries


def _counts_by_bucket(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[tuple[uuid.UUID, int], tuple[Counts, int]]:
    start = now_ns - SPAN_NS
    place = ExpressionWrapper(
        (F("timestamp_ns") - Value(start + 1)) / Value(BUCKET_NS),
        output_field=BigIntegerField(),
    )
    rows = (
        _judged(deployments, start, now_ns)
        .filter(drafted__gt=0)
        .annotate(place=place)
        .values("deployment_id", "place")
        .annotate(
            all_accepted=Sum("accepted"),
            all_drafted=Sum("drafted"),
            all_drafts=Sum("num_drafts"),
            windows=Count("pk"),
            windows_with_drafts=Count("num_drafts"),
            newest=Max("timestamp_ns"),
        )
        .order_by()
    )
    return {
        (row["deployment_id"], row["place"]): (
            Counts(
                accepted=row["all_accepted"],
                drafted=row["all_drafted"],
                num_drafts=row["all_drafts"]
                if row["windows"] == row["windows_with_drafts"]
                else None,
            ),
            row["newest"],
        )
        for row in rows
    }


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


def _judged(
    deployments: Collection[uuid.UUID], start_ns: int, end_ns: int
) -> QuerySet[AcceptanceSample]:
    return AcceptanceSample.objects.filter(
        deployment__in=deployments,
        timestamp_ns__gt=start_ns,
        timestamp_ns__lte=end_ns,
    ).exclude(replica__role=Role.PREFILL)

"""Acceptance of many deployments at once, summed in the database: what a line of a list shows."""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    QuerySet,
    Sum,
    TextField,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce

from deployments.models import HOUR_S, AcceptanceSample, HourRollup, Replica
from deployments.planning.plan import Role
from deployments.selectors.plain_rows import plain_rows

SECOND_NS = 1_000_000_000
HOUR_NS = HOUR_S * SECOND_NS
BUCKETS = 24

Bucket: TypeAlias = tuple[str, int, int, int, int, int]
"""An hour of a deployment: its id as text, its place, accepted, drafted, drafts, and how many of
its parts do not say their drafts."""
COLUMNS = ("owner", "place", "all_accepted", "all_drafted", "all_drafts", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """What a line of a list shows of the last 24 full hours; ``None`` where nothing was drafted.

    ``course`` is the mean acceptance length of each hour.
    """

    course: tuple[float | None, ...] = (None,) * BUCKETS
    mean_acceptance_length: float | None = None
    acceptance_rate: float | None = None


def lengths_of(
    deployments: Collection[uuid.UUID], now_ns: int
) -> dict[uuid.UUID, Lengths]:
    """The course of each deployment, in one query for any number of them.

    Prefill replicas are left out: they decode one token per request. Samples that no roll-up
    holds yet count as well.
    """
    buckets: dict[uuid.UUID, list[Bucket]] = {pk: [] for pk in deployments}
    # An id is text with dashes in PostgreSQL and without them in SQLite.
    by_text = {text: rows for pk, rows in buckets.items() for text in (str(pk), pk.hex)}
    for row in plain_rows(_sums(deployments, now_ns)):
        by_text[row[0]].append(row)
    return {pk: _lengths(rows) for pk, rows in buckets.items()}


def _lengths(buckets: Iterable[Bucket]) -> Lengths:
    hours: dict[int, list[int]] = {}
    for _pk, place, *sums in buckets:
        hour = hours.setdefault(place, [0, 0, 0, 0])
        hours[place] = [before + more for before, more in zip(hour, sums, strict=True)]
    course: list[float | None] = [None] * BUCKETS
    for place, (accepted, _drafted, drafts, unknown) in hours.items():
        if drafts and not unknown:
            course[place] = 1 + accepted / drafts
    accepted, drafted, drafts, unknown = map(sum, zip([0] * 4, *hours.values()))  # noqa: B905
    return Lengths(
        course=tuple(course),
        mean_acceptance_length=1 + accepted / drafts
        if drafts and not unknown
        else None,
        acceptance_rate=accepted / drafted if drafted else None,
    )


_OF_PREFILL = Exists(Replica.objects.filter(pk=OuterRef("replica"), role=Role.PREFILL))


def _sums(deployments: Collection[uuid.UUID], now_ns: int) -> QuerySet[Any, Any]:
    end_s = -(-now_ns // HOUR_NS) * HOUR_S
    start_s = end_s - BUCKETS * HOUR_S
    start_ns = start_s * SECOND_NS
    rolled = HourRollup.objects.filter(start_s__gte=start_s, start_s__lt=end_s)
    waiting = AcceptanceSample.objects.filter(
        rolled_up=False, timestamp_ns__gt=start_ns, timestamp_ns__lte=now_ns
    )
    since_start = F("timestamp_ns") - Value(start_ns + 1)
    return _by_hour(
        rolled, deployments, (F("start_s") - Value(start_s)) / Value(HOUR_S)
    ).union(_by_hour(waiting, deployments, since_start / Value(HOUR_NS)), all=True)


def _by_hour(
    rows: QuerySet[Any], deployments: Collection[uuid.UUID], place: Combinable
) -> QuerySet[Any, Any]:
    whole = BigIntegerField()
    found: QuerySet[Any, Any] = (
        rows.filter(~_OF_PREFILL, deployment__in=deployments, drafted__gt=0)
        .annotate(
            place=ExpressionWrapper(place, output_field=whole),
            owner=Cast("deployment_id", TextField()),
        )
        .values("owner", "place")
        .annotate(
            all_accepted=Cast(Sum("accepted"), whole),
            all_drafted=Cast(Sum("drafted"), whole),
            all_drafts=Cast(Coalesce(Sum("num_drafts"), 0), whole),
            unknown=Count("pk") - Count("num_drafts"),
        )
        .values_list(*COLUMNS)
        .order_by()
    )
    return found

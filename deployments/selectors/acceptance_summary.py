"""Acceptance of many deployments at once, summed in the database: what a line of a list shows."""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from operator import add
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

from deployments.models import (
    HOUR_S,
    AcceptanceSample,
    Deployment,
    HourRollup,
    Replica,
)
from deployments.planning.plan import Role
from deployments.selectors.ready_rows import AmongGiven, Given, ready_plain_rows

SECOND_NS = 1_000_000_000
HOUR_NS = HOUR_S * SECOND_NS
BUCKETS = 24

Hour: TypeAlias = list[int]
"""An hour of a deployment: its place, accepted, drafted, drafts, and how many of its parts do not
say their drafts."""
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
    end_s = -(-now_ns // HOUR_NS) * HOUR_S
    start_s = end_s - BUCKETS * HOUR_S
    found = ready_plain_rows(
        "acceptance by hour",
        _by_hour,
        deployments=deployments,
        start_s=start_s,
        end_s=end_s,
        # What was measured at a full hour belongs to the hour that it ends.
        start_ns=start_s * SECOND_NS,
        now_ns=now_ns,
    )
    hours: dict[str, list[Hour]] = {}
    for owner, *hour in found:
        hours.setdefault(owner, []).append(hour)
    # An id is text with dashes in PostgreSQL and without them in SQLite.
    return {
        pk: _lengths(hours.get(str(pk)) or hours.get(pk.hex) or ())
        for pk in deployments
    }


def _lengths(hours: Iterable[Hour]) -> Lengths:
    """What the sums say; an hour may come twice, from roll-ups and from samples."""
    sums: dict[int, Hour] = {}
    for hour in hours:
        before = sums.get(hour[0])
        sums[hour[0]] = [hour[0], *map(add, before[1:], hour[1:])] if before else hour
    course: list[float | None] = [None] * BUCKETS
    for place, accepted, _drafted, drafts, unknown in sums.values():
        if drafts and not unknown:
            course[place] = 1 + accepted / drafts
    _places, accepted, drafted, drafts, unknown = map(
        sum, zip([0] * 5, *sums.values(), strict=True)
    )
    return Lengths(
        course=tuple(course),
        mean_acceptance_length=1 + accepted / drafts
        if drafts and not unknown
        else None,
        acceptance_rate=accepted / drafted if drafted else None,
    )


_OF_PREFILL = Exists(Replica.objects.filter(pk=OuterRef("replica"), role=Role.PREFILL))


def _by_hour() -> QuerySet[Any, Any]:
    whole = BigIntegerField()
    start_s, end_s = Given("start_s", whole), Given("end_s", whole)
    start_ns, now_ns = Given("start_ns", whole), Given("now_ns", whole)
    rolled = HourRollup.objects.filter(start_s__gte=start_s, start_s__lt=end_s)
    waiting = AcceptanceSample.objects.filter(
        rolled_up=False, timestamp_ns__gt=start_ns, timestamp_ns__lte=now_ns
    )
    since_start = F("timestamp_ns") - start_ns - Value(1)
    return _summed(rolled, (F("start_s") - start_s) / Value(HOUR_S)).union(
        _summed(waiting, since_start / Value(HOUR_NS)), all=True
    )


def _summed(rows: QuerySet[Any], place: Combinable) -> QuerySet[Any, Any]:
    whole = BigIntegerField()
    of_deployments = AmongGiven("deployment_id", "deployments", Deployment._meta.pk)
    found: QuerySet[Any, Any] = (
        rows.filter(~_OF_PREFILL, of_deployments, drafted__gt=0)
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

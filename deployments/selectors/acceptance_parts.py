"""Sums of one deployment over several ranges in one statement, from roll-ups and what waits for them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.expressions import Combinable

from deployments.models import (
    DAY_S,
    HOUR_S,
    AcceptanceSample,
    DayRollup,
    Deployment,
    HourRollup,
    MinuteRollup,
    Rollup,
)
from deployments.selectors.acceptance_range import NANOSECONDS, Range
from deployments.selectors.plain_rows import plain_rows
from deployments.telemetry.acceptance_history import Counts

WAITING = -1
"""The mark of samples that no roll-up holds yet: they belong to every range that they fall into."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one replica did in one step of the level that was read."""

    at_s: int
    role: str
    rank: int
    release: int
    counts: Counts
    windows: int

    @property
    def replica(self) -> str:
        """The replica's name within its release: ``decode-0``."""
        return f"{self.role}-{self.rank}"


def level_of(step_s: int) -> type[Rollup]:
    """The coarsest level whose rows fill the step exactly."""
    if step_s % DAY_S == 0:
        return DayRollup
    return HourRollup if step_s % HOUR_S == 0 else MinuteRollup


def parts_of(deployment: Deployment, ranges: Sequence[Range]) -> list[list[Part]]:
    """The parts of each range, in one query whatever their number.

    Roll-ups and waiting samples are read by one statement, so a round that adds samples up
    meanwhile can neither hide one nor show it twice.
    """
    arms = [_rolled(deployment, place, one) for place, one in enumerate(ranges)]
    rows = _waiting(deployment, ranges).union(*arms, all=True)
    found: list[list[Part]] = [[] for _ in ranges]
    for mark, part in _parts(rows):
        if mark != WAITING:
            found[mark].append(part)
            continue
        for place, one in enumerate(ranges):
            if one.start_s <= part.at_s < one.end_s:
                found[place].append(part)
    return found


def _parts(rows: QuerySet[Any, Any]) -> Iterator[tuple[int, Part]]:
    for row in plain_rows(rows):
        mark, at_s, role, rank, release, *sums, shares, windows = row
        counts = Counts(
            accepted=sums[0],
            drafted=sums[1],
            num_drafts=sums[2],
            per_position=tuple(
                json.loads(shares) if isinstance(shares, str) else shares
            ),
        )
        yield mark, Part(at_s, role, rank, release, counts, windows)


def _rolled(deployment: Deployment, mark: int, one: Range) -> QuerySet[Any, Any]:
    rows = level_of(one.step_s)._default_manager.filter(
        deployment=deployment, start_s__gte=one.start_s, start_s__lt=one.end_s
    )
    return _columns(rows, mark, F("start_s"), F("windows"))


def _waiting(deployment: Deployment, ranges: Sequence[Range]) -> QuerySet[Any, Any]:
    rows = AcceptanceSample.objects.filter(
        deployment=deployment,
        rolled_up=False,
        timestamp_ns__gt=min(one.start_ns for one in ranges),
        timestamp_ns__lte=max(one.end_ns for one in ranges),
    )
    # The end of a step belongs to it.
    at_s = (F("timestamp_ns") - Value(1)) / Value(NANOSECONDS)
    return _columns(rows, WAITING, at_s, Value(1))


def _columns(
    rows: QuerySet[Any],
    mark: int,
    at_s: Combinable,
    windows: Combinable,
) -> QuerySet[Any, Any]:
    whole = BigIntegerField()
    found: QuerySet[Any, Any] = (
        rows.annotate(
            mark=Value(mark),
            at=ExpressionWrapper(at_s, output_field=whole),
            count=ExpressionWrapper(windows, output_field=whole),
        )
        .values_list(
            "mark",
            "at",
            "replica__role",
            "replica__rank",
            "replica__release__number",
            "accepted",
            "drafted",
            "num_drafts",
            "per_position",
            "count",
        )
        .order_by()
    )
    return found

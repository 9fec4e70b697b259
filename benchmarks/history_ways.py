"""The ways to a chart of one deployment; each returns the accepted tokens of the 30 days."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import connection

from deployments.models import HOUR_S, AcceptanceSample, Deployment, HourRollup, Release
from deployments.selectors.acceptance import Wanted, history
from deployments.selectors.acceptance_parts import Part, parts_of
from deployments.selectors.acceptance_range import Range, named_range
from deployments.telemetry.acceptance_history import (
    Counts,
    Sample,
    bucket_samples,
    total,
)

SECOND_NS = 10**9
BASE_HOURS = 7 * 24
_RAW = f"""SELECT (timestamp_ns - 1) / %s, SUM(accepted), SUM(drafted), SUM(num_drafts)
FROM {AcceptanceSample._meta.db_table}
WHERE deployment_id = %s AND timestamp_ns > %s AND timestamp_ns <= %s GROUP BY 1"""  # noqa: S608
_ROLLED = f"""SELECT start_s, accepted, drafted, num_drafts, per_position, windows
FROM {HourRollup._meta.db_table}
WHERE deployment_id = %s AND start_s >= %s AND start_s < %s"""  # noqa: S608

_ROLLED_SUMS = f"""SELECT start_s, SUM(accepted), SUM(drafted), SUM(num_drafts)
FROM {HourRollup._meta.db_table}
WHERE deployment_id = %s AND start_s >= %s AND start_s < %s GROUP BY 1"""  # noqa: S608


def ways_of(
    deployment: Deployment, live: Release, end_s: int
) -> Mapping[str, Callable[[], int]]:
    """What is measured, by name."""
    month = named_range("30d", end_s)
    hour = named_range("1h", end_s)
    key = deployment.pk if connection.vendor == "postgresql" else deployment.pk.hex

    def charted() -> int:
        return total(part.counts for part in _parts(deployment, month)).accepted

    def page() -> int:
        return history(deployment, live, Wanted(range=month)).totals.accepted

    def bare() -> int:
        first = month.start_s - BASE_HOURS * HOUR_S
        rows = _fetched(_ROLLED, (key, first, month.end_s))
        return sum(row[1] for row in rows if row[0] >= month.start_s)

    def bare_sums() -> int:
        rows = _fetched(_ROLLED_SUMS, (key, month.start_s, month.end_s))
        return int(sum(row[1] for row in rows))

    def raw_sql() -> int:
        span = (HOUR_S * SECOND_NS, key, month.start_ns, month.end_ns)
        return int(sum(row[1] for row in _fetched(_RAW, span)))

    def raw_read() -> int:
        return _raw_read(deployment, month)

    def short() -> int:
        return len(_parts(deployment, hour))

    return {
        "30 d chart": charted,
        "30 d bare SQL on the roll-up": bare,
        "30 d roll-up, summed in SQL": bare_sums,
        "30 d raw samples, summed in SQL": raw_sql,
        "30 d raw samples, read and summed": raw_read,
        "30 d everything on the page": page,
        "1 h chart": short,
    }


def _parts(deployment: Deployment, one: Range) -> list[Part]:
    """The statement of the page: the range and the week before it."""
    base = Range(
        key="base",
        start_s=one.start_s // HOUR_S * HOUR_S - BASE_HOURS * HOUR_S,
        step_s=HOUR_S,
        steps=BASE_HOURS,
    )
    return list(parts_of(deployment, [one, base])[0])


def _raw_read(deployment: Deployment, one: Range) -> int:
    """What the page did before there were roll-ups: every window to Python, with its positions."""
    rows = AcceptanceSample.objects.filter(
        deployment=deployment,
        timestamp_ns__gt=one.start_ns,
        timestamp_ns__lte=one.end_ns,
    ).values_list("timestamp_ns", "accepted", "drafted", "num_drafts", "per_position")
    samples = (
        Sample(
            start_ns=at,
            end_ns=at,
            counts=Counts(
                accepted=accepted,
                drafted=drafted,
                num_drafts=drafts,
                per_position=tuple(shares),
            ),
        )
        for at, accepted, drafted, drafts, shares in rows
    )
    steps = bucket_samples(samples, one.start_ns, one.end_ns, one.steps)
    return total(step.counts for step in steps if step.counts).accepted


def _fetched(statement: str, values: Sequence[Any]) -> list[tuple[int, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())

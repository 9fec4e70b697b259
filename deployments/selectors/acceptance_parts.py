"""Sums of one deployment over several ranges in one statement, from roll-ups and what waits for them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Model

from deployments.models import (
    DAY_S,
    HOUR_S,
    AcceptanceSample,
    DayRollup,
    Deployment,
    HourRollup,
    MinuteRollup,
    Release,
    Replica,
    Rollup,
)
from deployments.selectors.acceptance_range import NANOSECONDS, Range
from deployments.telemetry.acceptance_history import Counts

LEVELS: tuple[type[Rollup], ...] = (MinuteRollup, HourRollup, DayRollup)
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
    meanwhile can neither hide one nor show it twice. The statement is written out: to compose it
    from querysets takes longer than the database needs to answer it.
    """
    key = Deployment._meta.pk.get_db_prep_value(deployment.pk, connection)
    first = min(one.start_ns for one in ranges)
    last = max(one.end_ns for one in ranges)
    arms, values = [_WAITING], [key, first, last]
    for place, one in enumerate(ranges):
        arms.append(_ROLLED[level_of(one.step_s)].format(mark=place))
        values += [key, one.start_s, one.end_s]
    found: list[list[Part]] = [[] for _ in ranges]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(arms), values)
        rows = cursor.fetchall()
    for (
        mark,
        at_s,
        role,
        rank,
        release,
        accepted,
        drafted,
        drafts,
        shares,
        windows,
    ) in rows:
        counts = Counts(
            accepted=accepted,
            drafted=drafted,
            num_drafts=drafts,
            per_position=tuple(json.loads(shares)),
        )
        part = Part(at_s, role, rank, release, counts, windows)
        if mark != WAITING:
            found[mark].append(part)
            continue
        for place, one in enumerate(ranges):
            if one.start_s <= part.at_s < one.end_s:
                found[place].append(part)
    return found


def _arm(table: type[Model], at_s: str, windows: str, condition: str) -> str:
    """One part of the statement; names come from the models, values from the caller."""
    return (
        f"SELECT {{mark}}, {at_s}, p.role, p.rank, l.number, r.accepted, r.drafted,"  # noqa: S608
        f" r.num_drafts, CAST(r.per_position AS TEXT), {windows}"
        f" FROM {table._meta.db_table} r"
        f" JOIN {Replica._meta.db_table} p ON p.id = r.replica_id"
        f" JOIN {Release._meta.db_table} l ON l.id = p.release_id"
        f" WHERE r.deployment_id = %s AND {condition}"
    )


_ROLLED: Mapping[type[Rollup], str] = {
    level: _arm(level, "r.start_s", "r.windows", "r.start_s >= %s AND r.start_s < %s")
    for level in LEVELS
}
# The end of a step belongs to it.
_WAITING = _arm(
    AcceptanceSample,
    f"(r.timestamp_ns - 1) / {NANOSECONDS}",
    "1",
    "NOT r.rolled_up AND r.timestamp_ns > %s AND r.timestamp_ns <= %s",
).format(mark=WAITING)

"""Sums of one deployment over several ranges in one statement, from roll-ups and what waits for them."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import connection

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
from deployments.planning.plan import Role
from deployments.selectors.acceptance_range import NANOSECONDS, Range
from deployments.telemetry.acceptance_history import Counts

LEVELS: tuple[type[Rollup], ...] = (MinuteRollup, HourRollup, DayRollup)
WAITING = -1
"""The mark of samples that no roll-up holds yet: they belong to every range that they fall into."""


class Part(NamedTuple):
    """What one replica did in one step of a range, in drafts of one length.

    ``at_s`` lies within the step. ``canary`` says that it drafts in another way than its
    release. Nothing that has names is made faster than a named tuple.
    """

    at_s: int
    role: str
    rank: int
    release: int
    windows: int
    counts: Counts
    canary: bool = False

    @property
    def drafts_as_planned(self) -> bool:
        """Whether its counts judge the plan: no canary, and no prefill, where no drafts are expected."""
        return not self.canary and self.role != Role.PREFILL

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
    from querysets takes longer than the database needs to answer it. The database adds up by step,
    so what is left to do here grows with the steps that are drawn.
    """
    key = Deployment._meta.pk.get_db_prep_value(deployment.pk, connection)
    first = min(one.start_ns for one in ranges)
    last = max(one.end_ns for one in ranges)
    joined = _JOINED[connection.vendor]
    arms, values = [_WAITING], [key, first, last]
    for place, one in enumerate(ranges):
        arms.append(_ROLLED[level_of(one.step_s)].format(mark=place, joined=joined))
        values += [one.start_s, one.step_s, key, one.start_s, one.end_s]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(arms), values)
        rows = cursor.fetchall()
    found: list[list[Part]] = [[] for _ in ranges]
    for row, shares in zip(rows, _lists([row[-1] for row in rows]), strict=True):
        mark, step, role, rank, canary, release, windows, *sums = row
        accepted, drafted, drafts, _ = sums
        counts = Counts(
            accepted=accepted,
            drafted=drafted,
            num_drafts=drafts,
            per_position=shares,
        )
        if mark != WAITING:
            one = ranges[mark]
            at_s = one.start_s + step * one.step_s
            found[mark].append(Part(at_s, role, rank, release, windows, counts, canary))
            continue
        part = Part(step, role, rank, release, windows, counts, canary)
        for one, parts in zip(ranges, found, strict=True):
            if one.start_s <= step < one.end_s:
                parts.append(part)
    return found


def _lists(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """The sums by position of each text, which holds lists of one length with commas between them."""
    parsed = json.loads(f"[[{'],['.join(texts)}]]") if texts else ()
    return [
        tuple(lists[0]) if len(lists) == 1 else tuple(map(sum, zip(*lists)))  # noqa: B905
        for lists in parsed
    ]


# What stands in braces is the caller's: names come from the models, values are parameters.
_WHOSE = f"""
    JOIN {Replica._meta.db_table} p ON p.id = r.replica_id
    JOIN {Release._meta.db_table} l ON l.id = p.release_id"""
_ROLLED: Mapping[type[Rollup], str] = {
    level: f"""
    SELECT {{mark}}, r.step, p.role, p.rank, p.canary, l.number,
      r.windows, r.accepted, r.drafted, r.num_drafts, r.shares
    FROM (
      SELECT replica_id, (start_s - %s) / %s AS step,
        CAST(SUM(windows) AS BIGINT) AS windows,
        CAST(SUM(accepted) AS BIGINT) AS accepted,
        CAST(SUM(drafted) AS BIGINT) AS drafted,
        CAST(CASE WHEN COUNT(num_drafts) = COUNT(*) THEN SUM(num_drafts) END AS BIGINT)
          AS num_drafts,
        {{joined}} AS shares
      FROM {level._meta.db_table}
      WHERE deployment_id = %s AND start_s >= %s AND start_s < %s
      GROUP BY replica_id, step, positions
    ) r{_WHOSE}"""  # noqa: S608
    for level in LEVELS
}
_JOINED: Mapping[str, str] = {
    "postgresql": "STRING_AGG(CAST(per_position AS TEXT), ',')",
    "sqlite": "GROUP_CONCAT(per_position, ',')",
}
# The end of a step belongs to it.
_WAITING = f"""
    SELECT {WAITING}, (r.timestamp_ns - 1) / {NANOSECONDS}, p.role, p.rank, p.canary, l.number,
      1, r.accepted, r.drafted, r.num_drafts, CAST(r.per_position AS TEXT)
    FROM {AcceptanceSample._meta.db_table} r{_WHOSE}
    WHERE r.deployment_id = %s AND NOT r.rolled_up
      AND r.timestamp_ns > %s AND r.timestamp_ns <= %s"""  # noqa: S608

"""Thirty days of samples for many deployments, in the order of time in which they come."""

import json
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.page_rows import COLUMNS
from deployments import models as m
from deployments.services.rollups import LEVELS

SECOND_NS = 10**9
DAYS = 30
WINDOW_S = 10
CHUNK = 5_000
FILLING: Mapping[str, int | str] = {
    "journal_mode": "OFF",
    "synchronous": "OFF",
    "cache_size": -1_500_000,
}
"""Random keys reach every page of the indexes: without a cache of 1.5 GB most are read again."""
MEASURING: Mapping[str, int | str] = {
    "journal_mode": "WAL",
    "synchronous": "NORMAL",
    "cache_size": -2000,
}
"""What SQLite does by itself, in kB, and what the panel sets."""


def add_samples(
    replicas: list[m.Replica], start_s: int, end_s: int, every_s: int
) -> int:
    """A window of each replica every so many seconds; returns how many rows."""
    rows = _rows(replicas, start_s, end_s, every_s)
    return _copied(rows) if connection.vendor == "postgresql" else _inserted(rows)


def roll_up_in_sql() -> None:
    """Add the waiting samples up by one statement a level; only for rows that nobody looks at."""
    raw = m.AcceptanceSample._meta.db_table
    with connection.cursor() as cursor:
        for level in LEVELS:
            step_ns = level.STEP_S * SECOND_NS
            place = f"(timestamp_ns - 1) / {step_ns} * {level.STEP_S}"
            cursor.execute(
                f"INSERT INTO {level._meta.db_table} (deployment_id, replica_id, start_s,"  # noqa: S608
                " positions, accepted, drafted, num_drafts, per_position, windows, newest_ns)"
                f" SELECT deployment_id, replica_id, {place}, 3, SUM(accepted), SUM(drafted),"
                " SUM(num_drafts), '[0, 0, 0]', COUNT(*), MAX(timestamp_ns)"
                f" FROM {raw} WHERE NOT rolled_up"
                f" GROUP BY deployment_id, replica_id, {place}"
            )
        cursor.execute(f"UPDATE {raw} SET rolled_up = TRUE WHERE NOT rolled_up")  # noqa: S608


def _rows(
    replicas: list[m.Replica], start_s: int, end_s: int, every_s: int
) -> Iterator[tuple[Any, ...]]:
    now = timezone.now().isoformat()
    postgres = connection.vendor == "postgresql"
    keys = [
        (one.release.deployment_id, one.pk)
        if postgres
        else (one.release.deployment_id.hex, one.pk.hex)
        for one in replicas
    ]
    for at_s in range(start_s, end_s, every_s):
        for place, (deployment, replica) in enumerate(keys):
            accepted = 300 + (place * 7 + at_s // every_s * 13) % 200
            sample = uuid.uuid4()
            yield (
                sample if postgres else sample.hex,
                now,
                deployment,
                replica,
                replicas[place].container_id,
                "2026-11-27T08:00:00.000000000Z",
                "stderr",
                at_s * SECOND_NS + 1,
                0,
                accepted,
                609,
                203,
                _shares(accepted),
                3,
                float(WINDOW_S),
            )


@cache
def _shares(accepted: int) -> str:
    """So many accepted tokens by position, as a row keeps them."""
    half, third = accepted // 2, accepted // 3
    return json.dumps([accepted - half, third, half - third])


def _copied(rows: Iterator[tuple[Any, ...]]) -> int:
    table = m.AcceptanceSample._meta.db_table
    count = 0
    with connection.cursor() as cursor:
        copying = cursor.copy(f"COPY {table} ({', '.join(COLUMNS)}) FROM STDIN")
        with copying as copy:
            for row in rows:
                copy.write_row(row)
                count += 1
    return count


def _inserted(rows: Iterator[tuple[Any, ...]]) -> int:
    table = m.AcceptanceSample._meta.db_table
    places = ", ".join(["%s"] * len(COLUMNS))
    statement = f"INSERT INTO {table} ({', '.join(COLUMNS)}) VALUES ({places})"  # noqa: S608
    count = 0
    chunk: list[tuple[Any, ...]] = []
    _set_pragmas(FILLING)
    with transaction.atomic():
        for row in rows:
            chunk.append(row)
            if len(chunk) == CHUNK:
                count += _written(statement, chunk)
                chunk = []
        count += _written(statement, chunk)
    _set_pragmas(MEASURING)
    return count


def _set_pragmas(pragmas: Mapping[str, int | str]) -> None:
    with connection.cursor() as cursor:
        for name, value in pragmas.items():
            cursor.execute(f"PRAGMA {name} = {value}")


def _written(statement: str, chunk: list[tuple[Any, ...]]) -> int:
    with connection.cursor() as cursor:
        cursor.executemany(statement, chunk)
    return len(chunk)

"""Thirty days of samples for many deployments, in the order of time in which they come."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from benchmarks.page_rows import COLUMNS
from deployments import models as m
from deployments.services.rollups import LEVELS

SECOND_NS = 10**9
DAYS = 30
_KEY = {True: "uuid", False: "char(32)"}
_POSITIONS = "accepted - accepted / 2, accepted / 3, accepted / 2 - accepted / 3"
_SAMPLE = """%(now)s, deployment, replica, container, '2026-11-27T08:00:00.000000000Z', 'stderr',
 second * 1000000000 + 1, 0, accepted, 609, 203, {positions}, 3, 10.0, {rolled_up}
FROM (SELECT benchmark_keys.*, second, 300 + (place * 7 + second / %(step)s * 13) %% 200 AS accepted
 FROM {seconds} CROSS JOIN benchmark_keys) AS made"""
"""One window of each replica a second of these; half of the tokens at the first position."""
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
    replicas: Sequence[m.Replica],
    start_s: int,
    end_s: int,
    every_s: int,
    *,
    rolled_up: bool,
) -> int:
    """A window of each replica every so many seconds; returns how many rows.

    The database makes them itself, which takes a tenth of the time of sending them. ``rolled_up``
    says that ``roll_up_in_sql`` will add them up and not the service.
    """
    postgres = connection.vendor == "postgresql"
    keys = [
        (
            place,
            one.release.deployment_id if postgres else one.release.deployment_id.hex,
            one.pk if postgres else one.pk.hex,
            one.container_id,
        )
        for place, one in enumerate(replicas)
    ]
    with _without_indexes(m.AcceptanceSample), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE benchmark_keys"
            f" (place integer, deployment {_KEY[postgres]}, replica {_KEY[postgres]},"
            " container varchar(64))"
        )
        cursor.executemany("INSERT INTO benchmark_keys VALUES (%s, %s, %s, %s)", keys)
        cursor.execute(
            f"INSERT INTO {m.AcceptanceSample._meta.db_table}"
            f" ({', '.join(COLUMNS)}, rolled_up) {_made(rolled_up=rolled_up)}",
            {
                "now": timezone.now().isoformat(),
                "first": start_s,
                "last": end_s - 1,
                "step": every_s,
            },
        )
        count = int(cursor.rowcount)
        cursor.execute("DROP TABLE benchmark_keys")
    return count


def roll_up_in_sql(but: m.Replica) -> None:
    """Add up what others than this one have, by one statement a level; only for rows that nobody looks at."""
    key = but.pk if connection.vendor == "postgresql" else but.pk.hex
    for level in LEVELS:
        step_ns = level.STEP_S * SECOND_NS
        place = f"(timestamp_ns - 1) / {step_ns} * {level.STEP_S}"
        with _without_indexes(level), connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {level._meta.db_table} (deployment_id, replica_id, start_s,"  # noqa: S608
                " positions, accepted, drafted, num_drafts, per_position, windows, newest_ns)"
                f" SELECT deployment_id, replica_id, {place}, 3, SUM(accepted), SUM(drafted),"
                " SUM(num_drafts), '[0, 0, 0]', COUNT(*), MAX(timestamp_ns)"
                f" FROM {m.AcceptanceSample._meta.db_table} WHERE replica_id <> %s"
                f" GROUP BY deployment_id, replica_id, {place}",
                [key],
            )


@contextmanager
def _without_indexes(model: type[Model]) -> Iterator[None]:
    """Fill a table in one transaction: PostgreSQL sorts its keys afterwards, SQLite keeps them in memory."""
    if connection.vendor != "postgresql":
        _set_pragmas(FILLING)
        with transaction.atomic():
            yield
        _set_pragmas(MEASURING)
        return
    table = model._meta.db_table
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE conrelid = %s::regclass AND contype IN ('p', 'u', 'f')"
            " ORDER BY contype DESC",
            [table],
        )
        constraints = cursor.fetchall()
        for name, _definition in constraints:
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", [table]
        )
        indexes = cursor.fetchall()
        for name, _definition in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        yield
        for _name, definition in indexes:
            cursor.execute(definition)
        for name, definition in constraints:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')


def _made(*, rolled_up: bool) -> str:
    """The statement that makes samples, as the database at hand writes it."""
    flag = "TRUE" if rolled_up else "FALSE"
    if connection.vendor == "postgresql":
        return "SELECT gen_random_uuid(), " + _SAMPLE.format(
            seconds="generate_series(%(first)s::bigint, %(last)s, %(step)s) AS second",
            positions=f"jsonb_build_array({_POSITIONS})",
            rolled_up=flag,
        )
    return (
        "WITH RECURSIVE seconds(second) AS (SELECT %(first)s UNION ALL"  # noqa: S608
        " SELECT second + %(step)s FROM seconds WHERE second + %(step)s <= %(last)s)"
        " SELECT lower(hex(randomblob(16))), "
        + _SAMPLE.format(
            seconds="seconds",
            positions=f"json_array({_POSITIONS})",
            rolled_up=flag,
        )
    )


def _set_pragmas(pragmas: Mapping[str, int | str]) -> None:
    with connection.cursor() as cursor:
        for name, value in pragmas.items():
            cursor.execute(f"PRAGMA {name} = {value}")

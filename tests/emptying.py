"""Empties tables after tests that commit, with the triggers set aside that forbid it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations

KEPT = ("deployments_approval", "deployments_auditentry", "deployments_delegatedvote")


@contextmanager
def triggers_set_aside() -> Iterator[None]:
    """As somebody who owns the database could do."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = DEFAULT")
            return
        cursor.execute(
            "SELECT name, sql FROM sqlite_master "
            "WHERE type = 'trigger' AND tbl_name IN (%s, %s, %s)",
            KEPT,
        )
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        try:
            yield
        finally:
            for _name, sql in triggers:
                cursor.execute(sql)


@contextmanager
def tables_can_be_emptied() -> Iterator[None]:
    """Do so whenever Django empties all tables."""
    empty: Callable[[BaseDatabaseOperations, Sequence[str]], None] = (
        BaseDatabaseOperations.execute_sql_flush
    )

    def set_aside(operations: BaseDatabaseOperations, sql_list: Sequence[str]) -> None:
        with triggers_set_aside():
            empty(operations, sql_list)

    with mock.patch.object(BaseDatabaseOperations, "execute_sql_flush", set_aside):
        yield

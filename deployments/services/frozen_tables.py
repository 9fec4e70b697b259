"""The triggers that keep votes, plans and the audit as they are: put back after every migration.

SQLite rebuilds a table to change a column and drops its triggers with the old one. A migration that
does so to one of these tables would silently make its rows changeable.
"""

import logging
from collections.abc import Iterator, Mapping

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_migrate

logger = logging.getLogger(__name__)
FROZEN: Mapping[str, str] = {"frozen": "UPDATE"}
KEPT: Mapping[str, str] = {**FROZEN, "kept": "DELETE", "whole": "TRUNCATE"}
TRIGGERS: Mapping[str, Mapping[str, str]] = {
    "deployments_revision": FROZEN,
    "deployments_plan": FROZEN,
    "deployments_policyversion": FROZEN,
    "deployments_approval": KEPT,
    "deployments_auditentry": KEPT,
    "deployments_delegatedvote": KEPT,
}
"""The acts that each table refuses, by the end of the trigger's name."""
COMPLETE_SINCE = ("deployments", "0036_delegations")
"""The migration with which all of them are there."""


def listen() -> None:
    """Look after every migration."""
    post_migrate.connect(_after_migration, dispatch_uid="frozen_tables")


def missing_triggers(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    """(table, end of the trigger's name) of those that are not there; one query."""
    query = (
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        known = {name for (name,) in cursor.fetchall()}
    return [
        (table, end)
        for table, end in _wanted(connection)
        if f"{table}_{end}" not in known
    ]


def put_back(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    """Make the triggers that are not there; returns which."""
    missing = missing_triggers(connection)
    with connection.cursor() as cursor:
        for table, end in missing:
            cursor.execute(_statement(connection, table, end))
    return missing


def _after_migration(sender: AppConfig, using: str, **_kwargs: object) -> None:
    connection = connections[using]
    if sender.name != "deployments" or not _complete(connection):
        return
    for table, end in put_back(connection):
        logger.error("a migration dropped the trigger %s_%s; put back", table, end)


def _complete(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database is at a migration that has them all: not on the way back from it."""
    return COMPLETE_SINCE in MigrationRecorder(connection).applied_migrations()


def _wanted(connection: BaseDatabaseWrapper) -> Iterator[tuple[str, str]]:
    for table, acts in TRIGGERS.items():
        for end, act in acts.items():
            if act != "TRUNCATE" or connection.vendor == "postgresql":
                yield table, end


def _statement(connection: BaseDatabaseWrapper, table: str, end: str) -> str:
    act = TRIGGERS[table][end]
    head = f"CREATE TRIGGER {table}_{end} BEFORE {act} ON {table} "
    if connection.vendor != "postgresql":
        said = "frozen" if act == "UPDATE" else "kept"
        return f"{head}BEGIN SELECT RAISE(ABORT, '{table} rows are {said}'); END"
    each = "STATEMENT" if act == "TRUNCATE" else "ROW"
    refusal = "update" if act == "UPDATE" else "removal"
    return f"{head}FOR EACH {each} EXECUTE FUNCTION deployments_refuse_{refusal}()"

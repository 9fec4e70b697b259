"""No migration leaves votes, plans or the audit without the triggers that keep them."""

import logging

import pytest
from django.core.management.sql import emit_post_migrate_signal
from django.db import DatabaseError, connection, transaction

from deployments.services.frozen_tables import TRIGGERS, missing_triggers, put_back
from tests.factories import ApprovalFactory

pytestmark = pytest.mark.django_db


def drop(table: str, end: str) -> None:
    """What rebuilding a table does on SQLite."""
    on = f" ON {table}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {table}_{end}{on}")


def test_a_migrated_database_has_every_trigger() -> None:
    assert missing_triggers(connection) == []


def test_a_dropped_trigger_is_put_back_after_a_migration_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    drop("deployments_approval", "frozen")
    drop("deployments_approval", "kept")
    with caplog.at_level(logging.ERROR, "deployments.services.frozen_tables"):
        emit_post_migrate_signal(0, interactive=False, db="default")

    assert len(caplog.records) == 2
    vote = ApprovalFactory.create()
    for act in (lambda: type(vote).objects.update(comment="other"), vote.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            act()


def test_each_trigger_that_is_put_back_is_the_one_that_was_there() -> None:
    before = _definitions()
    for table, acts in TRIGGERS.items():
        for end, act in acts.items():
            if act != "TRUNCATE" or connection.vendor == "postgresql":
                drop(table, end)

    assert put_back(connection)

    assert _definitions() == before


def _definitions() -> list[tuple[object, ...]]:
    query = (
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
        if connection.vendor == "postgresql"
        else "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(f"{query} ORDER BY 1")
        return list(cursor.fetchall())

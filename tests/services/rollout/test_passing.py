"""Transactions that stand in each other's way: the release goes on, and nobody is told of it."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from deployments.models import Command, CommandState, Release, ReleaseEvent
from deployments.services.rollout import executor
from deployments.services.rollout.claims import Claim
from deployments.services.rollout.passing import passes_by_itself
from tests.services.rollout.test_claims import make_command


def caused(error: Exception) -> OperationalError:
    """As Django wraps what a database says."""
    found = OperationalError(str(error))
    found.__cause__ = error
    return found


class Coded(Exception):  # noqa: N818 - stands in for what a driver raises
    """An error with the code of a database."""

    def __init__(self, **codes: object) -> None:
        super().__init__()
        self.__dict__.update(codes)


@pytest.mark.parametrize(
    ("codes", "passes"),
    [
        ({"sqlstate": "40P01"}, True),
        ({"sqlstate": "40001"}, True),
        ({"sqlstate": "53100"}, False),
        ({"sqlite_errorcode": sqlite3.SQLITE_BUSY_SNAPSHOT}, True),
        ({"sqlite_errorcode": sqlite3.SQLITE_FULL}, False),
        ({}, False),
    ],
)
def test_only_what_another_transaction_causes_passes(
    codes: dict[str, object], *, passes: bool
) -> None:
    assert passes_by_itself(caused(Coded(**codes))) is passes
    assert not passes_by_itself(Coded(**codes))


def said(sql: str) -> int:
    """Give a statement to the database; the first value of its answer, 0 without one."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone() if cursor.description else None
    return int(row[0]) if row else 0


def deadlock(claimed: Claim, release: QuerySet[Release]) -> None:
    """PostgreSQL: ours holds the command and wants the release, theirs the other way round."""
    ours = Event()

    def theirs() -> None:
        try:
            with transaction.atomic():
                said("SET LOCAL deadlock_timeout = '60s'")  # so that ours is given up
                release.update(state_since=Now())
                ours.wait(20)
                Command.objects.filter(pk=claimed.command_id).update(attempts=1)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(theirs)
        with claimed.fenced():
            said("SET LOCAL deadlock_timeout = '50ms'")
            ours.set()
            while not said("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                assert not other.done()
                time.sleep(0.01)
            release.update(state_since=Now())


def locked(claimed: Claim, release: QuerySet[Release]) -> None:
    """SQLite: another one writes for longer than ours waits."""
    begun, ended = Event(), Event()

    def theirs() -> None:
        try:
            with transaction.atomic():
                release.update(state_since=Now())
                begun.set()
                ended.wait(20)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(theirs)
        assert begun.wait(20)
        said("PRAGMA busy_timeout = 1")
        try:
            with claimed.fenced():
                release.update(state_since=Now())
        finally:
            said("PRAGMA busy_timeout = 20000")
            ended.set()
            other.result(20)


@pytest.mark.django_db(transaction=True)
def test_a_deadlock_is_done_again_and_nobody_is_told(
    sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = make_command()
    release = Release.objects.filter(pk=command.release_id)
    in_the_way = deadlock if connection.vendor == "postgresql" else locked
    tries: list[Claim] = []

    def run_slice(claimed: Claim) -> None:
        tries.append(claimed)
        if len(tries) == 1:
            in_the_way(claimed, release)
        with claimed.fenced():
            claimed.finish(CommandState.DONE)

    monkeypatch.setattr(executor, "_run_slice", run_slice)
    executor.run_command(command.pk)
    command.refresh_from_db()
    assert command.state == CommandState.READY
    assert sent == [str(command.pk)]
    Command.objects.filter(pk=command.pk).update(not_before=None)
    executor.run_command(command.pk)
    command.refresh_from_db()
    assert (command.state, command.error) == (CommandState.DONE, "")
    assert [claimed.fence for claimed in tries] == [1, 2]
    assert not ReleaseEvent.objects.filter(release=command.release_id).exists()

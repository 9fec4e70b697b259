"""Entries: what they tell, that they are chained, and that nobody changes or removes one."""

import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction

from deployments.models import (
    Approval,
    AuditAction,
    AuditEntry,
    AuditHead,
    Decision,
    User,
)
from deployments.selectors.audit_chain import (
    check_database,
    check_links,
    is_still_here,
    whole_chain,
)
from deployments.services.audit import Origin, acting_from, record
from panel.logging import JsonFormatter
from tests.audit_rows import AuditEntryFactory
from tests.emptying import triggers_set_aside
from tests.factories import UserFactory
from tests.plan_rows import vote
from tests.services.conftest import Team1

Tamper = Callable[[], object]


def raw(statement: str) -> None:
    """What somebody does who has the database but not the panel."""
    with connection.cursor() as cursor:
        cursor.execute(statement)


def entries(count: int) -> list[AuditEntry]:
    """So many entries, the first first."""
    return [AuditEntryFactory.create() for _ in range(count)]


def test_an_entry_tells_who_did_what_to_what_and_from_where(team1: Team1) -> None:
    origin = Origin(address="192.0.2.7", agent="Firefox, Linux")
    with acting_from(lambda: origin):
        entry = record(
            AuditAction.HOST_CHANGED,
            team1.alice,
            team1.host,
            before={"address": "10.0.0.1", "model_root": "/m"},
            after={"address": "10.0.0.2", "model_root": "/m", "share": 0.5},
            reason="moved",
        )
    entry.refresh_from_db()
    assert (entry.actor, entry.actor_name) == (team1.alice, "alice")
    assert (entry.team, entry.team_name) == (team1.team, "Serving")
    assert (entry.object_kind, entry.object_id) == ("host", str(team1.host.pk))
    assert (entry.object_name, entry.within_id) == ("gpu-1", str(team1.cluster.pk))
    assert entry.before == {"address": "10.0.0.1"}
    assert entry.after == {"address": "10.0.0.2", "share": "0.5"}
    assert (entry.reason, entry.address) == ("moved", "192.0.2.7")
    assert entry.agent == "Firefox, Linux"
    assert record(AuditAction.LOGGED_OUT, None, team1.alice).agent == "command line"


def test_what_no_database_takes_is_written_in_another_way(team1: Team1) -> None:
    entry = record(
        AuditAction.SECRET_STORED,
        None,
        team1.host,
        after={"a\0b": ["c\0d", 2**60, "\ud800"]},
        reason="e\0f" * 4000,
    )
    entry.refresh_from_db()
    assert entry.after == {
        "a\N{REPLACEMENT CHARACTER}b": ["c\N{REPLACEMENT CHARACTER}d", str(2**60), "?"]
    }
    assert len(entry.reason) == 4000
    assert entry.actor_name == "command line"
    assert check_database().broken is None


@pytest.mark.django_db
def test_entries_make_one_chain_without_a_gap() -> None:
    made = entries(3)
    assert [one.sequence for one in made] == [1, 2, 3]
    assert [one.previous for one in made] == ["", made[0].digest, made[1].digest]
    assert made == sorted(made, key=lambda one: one.at)
    found = check_database()
    assert (found.entries, found.digest, found.broken) == (3, made[2].digest, None)


@pytest.mark.django_db
def test_what_is_undone_leaves_no_gap() -> None:
    entries(1)
    with transaction.atomic():
        entries(2)
        transaction.set_rollback(True)
    assert entries(1)[0].sequence == 2
    assert check_database().broken is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE deployments_auditentry SET reason = 'nothing happened'",
        "DELETE FROM deployments_auditentry",
        "UPDATE deployments_approval SET comment = 'other'",
        "DELETE FROM deployments_approval",
    ],
)
def test_the_database_refuses_to_change_or_remove(team1: Team1, statement: str) -> None:
    entries(1)
    vote(team1.request(), team1.bob, Decision.APPROVE)
    with pytest.raises(DatabaseError, match="rows are"), transaction.atomic():
        raw(statement)
    assert check_database().entries == Approval.objects.count() == 1


@pytest.mark.django_db
def test_postgresql_also_refuses_to_empty_the_tables(team1: Team1) -> None:
    if connection.vendor != "postgresql":
        assert connection.vendor == "sqlite"  # which has no such statement
        return
    for table in ("deployments_auditentry", "deployments_approval"):
        with pytest.raises(DatabaseError, match="rows are kept"), transaction.atomic():
            raw(f"TRUNCATE {table} CASCADE")


def change() -> None:
    raw(
        "UPDATE deployments_auditentry SET reason = 'nothing happened' WHERE sequence = 2"
    )


def rename() -> None:
    raw("UPDATE deployments_auditentry SET actor_name = 'mallory' WHERE sequence = 2")


def remove() -> None:
    raw("DELETE FROM deployments_auditentry WHERE sequence = 2")


def close_the_gap() -> None:
    remove()
    raw("UPDATE deployments_auditentry SET sequence = sequence - 1 WHERE sequence = 3")
    raw("UPDATE deployments_auditentry SET sequence = sequence - 1 WHERE sequence = 4")


def swap() -> None:
    raw("UPDATE deployments_auditentry SET sequence = 99 WHERE sequence = 2")
    raw("UPDATE deployments_auditentry SET sequence = 2 WHERE sequence = 3")
    raw("UPDATE deployments_auditentry SET sequence = 3 WHERE sequence = 99")


def cut_the_end() -> None:
    raw("DELETE FROM deployments_auditentry WHERE sequence = 4")


def wind_back() -> None:
    second = AuditEntry.objects.get(sequence=2)
    AuditHead.objects.update(sequence=2, digest=second.digest)


def other_end() -> None:
    AuditHead.objects.update(digest="sha256:" + "0" * 64)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tamper", "first", "why"),
    [
        (change, 2, "not what its digest covers"),
        (rename, 2, "not what its digest covers"),
        (remove, 2, "entry 2 is missing"),
        (close_the_gap, 2, "not what its digest covers"),
        (swap, 2, "not what its digest covers"),
        (cut_the_end, 4, "the end was cut off"),
        (wind_back, 4, "the kept end is another"),
        (other_end, 4, "the kept end is another"),
    ],
)
def test_whoever_sets_the_triggers_aside_is_found_out(
    tamper: Tamper, first: int, why: str
) -> None:
    entries(4)
    with triggers_set_aside():
        tamper()
    broken = check_database().broken
    assert broken is not None
    assert broken.sequence == first
    assert why in broken.why


@pytest.mark.django_db
def test_a_rewritten_chain_is_not_the_one_that_was_exported() -> None:
    entries(3)
    kept = [json.loads(json.dumps(line)) for line in whole_chain()]
    found = check_links(kept)
    assert found.entries == 3
    assert is_still_here(found)
    with triggers_set_aside():
        raw("DELETE FROM deployments_auditentry")
        AuditHead.objects.all().delete()
    entries(3)
    assert check_database().broken is None
    assert not is_still_here(found)


@pytest.mark.django_db
def test_a_changed_link_of_an_export_is_found_whatever_was_changed() -> None:
    AuditEntryFactory.create(before={"a": 1}, after={"a": 2}, reason="why")
    entries(1)
    first, second = whole_chain()
    for key, value in first.items():
        other: Any = 7 if value != 7 else 8
        broken = check_links([{**first, key: other}, second]).broken
        assert broken is not None, key
        assert broken.sequence == 1
    assert check_links([{**first, "more": 1.5}]).broken is not None
    assert check_links([second]).broken is not None


@pytest.mark.django_db
def test_every_entry_is_mirrored_as_one_line_of_json_once_it_is_committed(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[tuple[str, str]] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append((record.name, JsonFormatter().format(record)))

    for name in ("audit", "audit.commands"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [Keeping()])
    user: User = UserFactory.create(username="eve\nforged")
    with django_capture_on_commit_callbacks(execute=True):
        with acting_from(lambda: Origin(address="", agent="curl")):
            entry = AuditEntryFactory.create(actor=user)
        assert not lines
        AuditEntryFactory.create()
    assert [name for name, _line in lines] == ["audit", "audit.commands"]
    assert "\n" not in lines[0][1]
    told = json.loads(lines[0][1])
    assert told["audit"]["digest"] == entry.digest
    assert told["audit"]["actor_name"] == "eve\nforged"


def write_at_once(writers: int, rows: int) -> None:
    """Let threads with connections of their own write as fast as they can."""
    people = [UserFactory.create() for _ in range(writers)]
    start = threading.Barrier(writers)
    failed: list[Exception] = []

    def write(person: User) -> None:
        try:
            start.wait(timeout=30)
            for number in range(rows):
                with transaction.atomic():
                    record(AuditAction.LOGGED_IN, person, person, after={"n": number})
        except Exception as error:  # noqa: BLE001 - shown by the test
            failed.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=write, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert failed == []
    found = check_database()
    assert found.broken is None
    assert found.entries == writers * rows
    times = list(AuditEntry.objects.order_by("sequence").values_list("at", flat=True))
    assert times == sorted(times)
    for person in people:
        assert AuditEntry.objects.filter(actor=person).count() == rows


def test_two_writers_make_one_chain(transactional_db: None) -> None:
    write_at_once(writers=2, rows=25)


@pytest.mark.slow
def test_many_writers_make_one_chain(transactional_db: None) -> None:
    write_at_once(writers=2, rows=2000)

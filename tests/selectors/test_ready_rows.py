"""Statements that are kept: they find what is there now, for whoever asks."""

import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from deployments.models import Deployment, Membership, TableKey, Team, User
from deployments.selectors import ready_rows as room
from deployments.selectors.prepared import prepares
from deployments.selectors.ready_rows import (
    AmongGiven,
    Given,
    asked_by,
    count_up_to,
    ready_models,
    ready_rows,
)
from deployments.selectors.tables.all_tables import TABLES
from deployments.selectors.tables.state import TableState
from deployments.selectors.tables.table import Table
from tests import factories as f

PREPARED = (
    "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
    " WHERE statement LIKE '%it''''s%'"
)
FIELDS = ("pk", "name", "created_at", "cluster__name")


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_kept", {})


@pytest.fixture
def alice(db: None) -> User:
    """In one team."""
    return f.member(f.TeamFactory.create(name="Serving"), "alice")


def _listed(user: User) -> "QuerySet[Deployment, tuple[object, ...]]":
    return Deployment.objects.for_user(user).order_by("name").values_list(*FIELDS)


def _made(user: User, *names: str) -> list[Deployment]:
    cluster = f.ClusterFactory.create(team=Team.objects.get(memberships__user=user))
    return [f.DeploymentFactory.create(cluster=cluster, name=name) for name in names]


def test_values_are_those_of_the_queryset(alice: User) -> None:
    """Ids and times too, which some databases hold as texts."""
    _made(alice, "a", "b")
    rows = ready_rows("listed", lambda: _listed(alice))
    assert rows == list(_listed(alice))
    assert [row[1] for row in rows] == ["a", "b"]


def test_it_is_made_once_and_asked_each_time(alice: User) -> None:
    made: list[int] = []

    def make() -> "QuerySet[Deployment, tuple[object, ...]]":
        made.append(1)
        return _listed(alice)

    assert not ready_rows("listed", make)
    (row,) = _made(alice, "new")
    with CaptureQueriesContext(connection) as asked:
        assert ready_rows("listed", make)[0][1] == "new"
    Deployment.objects.filter(pk=row.pk).update(name="renamed")
    assert ready_rows("listed", make)[0][1] == "renamed"
    assert (len(made), len(asked)) == (1, 1)


def test_a_statement_that_holds_a_time_is_made_anew(alice: User) -> None:
    _made(alice, "old")

    def before_now() -> "QuerySet[Deployment, tuple[object, ...]]":
        return _listed(alice).filter(created_at__lt=timezone.now())

    assert len(ready_rows("past", before_now)) == 1
    _made(alice, "younger")
    assert len(ready_rows("past", before_now)) == 2
    assert not room._kept  # noqa: SLF001 - that nothing is kept shows nowhere else


def test_values_are_given_when_it_is_asked(alice: User) -> None:
    """One or many or none of them, with the same statement."""
    first, second, _third = _made(alice, "a", "b", "c")
    key = Deployment._meta.pk

    def named() -> "QuerySet[Deployment, tuple[object, ...]]":
        rows = _listed(alice).filter(AmongGiven("id", "ids", key))
        return rows.exclude(name=Given("name", Deployment._meta.get_field("name")))

    def found(name: str, *rows: Deployment) -> list[object]:
        ids = [row.pk for row in rows]
        return [row[1] for row in ready_rows("named", named, ids=ids, name=name)]

    assert found("", first, second) == ["a", "b"]
    assert found("a", first, second) == ["b"]
    assert found("", second) == ["b"]
    assert found("") == []
    assert len(room._kept) == 1  # noqa: SLF001 - the same


def test_instances_are_those_of_the_queryset(alice: User) -> None:
    """With what is selected beside them, what is annotated, and without what is deferred."""
    _made(alice, "a", "b")

    def made() -> Any:
        return (
            Deployment.objects.for_user(alice)
            .select_related("cluster__team")
            .defer("created_by")
            .annotate(after=Q(name__gt=Given("edge", TextField())))
            .order_by("name")
        )

    assert [row.after for row in ready_models("models", made, edge="a")] == [
        False,
        True,
    ]
    rows = ready_models("models", made, edge="b")
    with CaptureQueriesContext(connection) as asked:
        told = [(row.pk, row.name, row.created_at, row.cluster.team) for row in rows]
        assert [row.after for row in rows] == [False, False]
    assert told == [
        (row.pk, row.name, row.created_at, row.cluster.team)
        for row in _listed(alice).model.objects.order_by("name")
    ]
    assert not asked.captured_queries
    assert all(row.get_deferred_fields() == {"created_by_id"} for row in rows)
    assert len(room._kept) == 1  # noqa: SLF001 - the same


def test_what_is_kept_is_planned_once_whoever_asks(alice: User) -> None:
    """The person, ids and what is given are sent apart; all else is written in the statement."""
    bob = f.member(Team.objects.get(memberships__user=alice), "bob")
    rows = _made(alice, "100 %", "it's %s \\ %%s", "it")
    ids = [row.pk for row in rows]

    def named(user: User) -> "QuerySet[Deployment, tuple[object, ...]]":
        among = AmongGiven("id", "ids", Deployment._meta.pk)
        found = _listed(user).filter(among, name__in=[row.name for row in rows])
        return found.exclude(name__endswith="t")

    for user in (alice, bob, alice):
        found = ready_rows(("named", asked_by(user)), partial(named, user), ids=ids)
        assert [row[1] for row in found] == ["100 %", "it's %s \\ %%s"]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(PREPARED)
            assert cursor.fetchall() == [(3, 0)]
    assert prepares("default") is (connection.vendor == "postgresql")


def test_nobody_finds_no_instances(alice: User) -> None:
    alice.is_active = False
    assert ready_models("none", lambda: Deployment.objects.for_user(alice)) == []


def test_counting_ends_at_the_most(alice: User) -> None:
    def number(most: int) -> int:
        rows = ready_rows(
            ("count", most), lambda: count_up_to(most, _listed(alice), alice)
        )
        return int(rows[0][0])

    assert number(3) == 0
    _made(alice, "a", "b")
    assert number(3) == 2
    assert number(1) == 1


def test_who_asks_is_part_of_the_key(alice: User) -> None:
    """Also when somebody may no longer log in."""
    before = asked_by(alice)
    assert before != asked_by(f.member(f.TeamFactory.create(), "charlie"))
    alice.is_active = False
    assert before != asked_by(alice)


def test_a_person_without_rights_finds_nothing_and_keeps_nothing(alice: User) -> None:
    _made(alice, "a")
    alice.is_active = False
    assert ready_rows("listed", lambda: _listed(alice)) == []
    alice.is_active = True
    assert len(ready_rows("listed", lambda: _listed(alice))) == 1


def test_leaving_a_team_counts_at_once(alice: User) -> None:
    _made(alice, "a")
    assert ready_rows("listed", lambda: _listed(alice))
    Membership.objects.filter(user=alice).delete()
    assert not ready_rows("listed", lambda: _listed(alice))


def test_only_so_many_are_kept(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_KEPT", 3)
    for number in range(8):
        ready_rows(("listed", number), lambda: _listed(alice))
        assert len(room._kept) <= 3  # noqa: SLF001 - the same


def _states(table: Table, user: User) -> Iterator[TableState]:
    """Every order of the table, and every choice of every filter."""
    for name in sorted(table.sorts):
        yield TableState(sort=name)
        yield TableState(sort=f"-{name}")
    for one in table.filters:
        for value, _label in one.choices(user):
            yield TableState(filters={one.key: value})


@pytest.mark.parametrize("key", TABLES)
def test_a_list_asks_nothing_while_its_statement_is_made(
    key: TableKey, alice: User
) -> None:
    """What was asked then would be kept with it, and grow old."""
    table = TABLES[key]
    states = list(_states(table, alice))
    with CaptureQueriesContext(connection) as asked:
        for state in states:
            table.sorted(alice, state).query.sql_with_params()
    assert len(states) > len(table.filters)
    assert not asked.captured_queries


@pytest.mark.parametrize("key", TABLES)
def test_what_is_kept_of_a_list_is_the_same_tomorrow(
    key: TableKey, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TABLES[key]
    states = list(_states(table, alice))
    today = [table.sorted(alice, one).query.sql_with_params() for one in states]
    later = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    monkeypatch.setattr(time, "time_ns", lambda: int(later.timestamp() * 10**9))
    monkeypatch.setattr(time, "time", later.timestamp)
    tomorrow = [table.sorted(alice, one).query.sql_with_params() for one in states]
    for before, after in zip(today, tomorrow, strict=True):
        assert before == after or any(map(room._is_time, after[1]))  # noqa: SLF001

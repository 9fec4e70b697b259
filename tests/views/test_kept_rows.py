"""What lists keep between two looks, statements and rows, and that nobody sees it."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.db.models.sql.compiler import SQLCompiler
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from deployments.forms.tables import table_form
from deployments.models import Cluster, Deployment, Membership, TableKey, User
from deployments.selectors.tables.all_tables import TABLES
from deployments.selectors.tables.columns import Column, Kind, TableRow
from deployments.selectors.tables.table import TablePage, table_page
from deployments.templatetags import tables as room
from deployments.templatetags.tables import rows_anew, table_rows
from tests import factories as f
from tests.audit_rows import AuditEntryFactory
from tests.views.conftest import logged_in
from tests.views.pages import parsed, text_of

LATER = datetime(2030, 1, 1, tzinfo=UTC)
OF_THE_LOG_IN = 2
"""The session and the person are looked up as Django does it."""


def _row_of_each(cluster: Cluster, person: User, name: str) -> None:
    """A deployment with a release, a host, a request, an alarm, an entry, and a model of the team."""
    deployment = f.DeploymentFactory.create(
        cluster=cluster, name=name, created_by=person
    )
    release = f.ReleaseFactory.create(deployment=deployment, started_by=person)
    host = f.HostFactory.create(cluster=cluster, name=f"{name}-host")
    f.ReplicaFactory.create(release=release, host=host)
    f.AlarmFactory.create(deployment=deployment)
    AuditEntryFactory.create(actor=person, on=deployment)
    f.ApprovalRequestFactory.create(
        plan__revision__deployment=deployment, submitted_by=person
    )
    model = f.TargetModelFactory.create(name=f"{name}-model", team=cluster.team)
    f.CheckpointFactory.create(target_model=model)


@contextmanager
def _statements_made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    made: list[str] = []
    original = SQLCompiler.as_sql

    def counted(compiler: SQLCompiler, *args: Any, **changes: Any) -> Any:
        made.append(str(compiler.query.model))
        return original(compiler, *args, **changes)

    with monkeypatch.context() as patched:
        patched.setattr(SQLCompiler, "as_sql", counted)
        yield made


@pytest.mark.parametrize("key", TABLES)
def test_a_second_look_makes_no_statement_and_writes_no_row(
    key: TableKey,
    as_alice: Client,
    alice: User,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _row_of_each(cluster, alice, "chat")
    address = reverse(TABLES[key].url_name)
    assert "chat" in text_of(as_alice.get(address), "#table")
    written = room._pieces.cache_info().misses  # noqa: SLF001
    with _statements_made(monkeypatch) as made:
        assert "chat" in text_of(as_alice.get(address), "#table")
    assert len(made) <= OF_THE_LOG_IN, made
    assert room._pieces.cache_info().misses == written  # noqa: SLF001


@pytest.mark.parametrize("key", TABLES)
def test_people_of_two_teams_who_look_in_turns_see_their_own_rows(
    key: TableKey, alice: User, cluster: Cluster, charlie: User
) -> None:
    as_alice, as_charlie = logged_in(alice), logged_in(charlie)
    _row_of_each(cluster, alice, "of-serving")
    team = Membership.objects.get(user=charlie).team
    _row_of_each(f.ClusterFactory.create(team=team), charlie, "of-strangers")
    address = reverse(TABLES[key].url_name)
    for _ in range(2):
        page = text_of(as_alice.get(address), "#table")
        assert "of-serving" in page
        assert "of-strangers" not in page
        page = text_of(as_charlie.get(address), "#table")
        assert "of-strangers" in page
        assert "of-serving" not in page


@pytest.mark.parametrize("key", TABLES)
def test_who_leaves_the_team_sees_nothing_of_it_at_once(
    key: TableKey, as_alice: Client, alice: User, cluster: Cluster
) -> None:
    _row_of_each(cluster, alice, "chat")
    address = reverse(TABLES[key].url_name)
    assert "chat" in text_of(as_alice.get(address), "#table")
    Membership.objects.filter(user=alice).delete()
    assert "chat" not in text_of(as_alice.get(address), "#table")


def test_a_change_shows_at_once(
    as_alice: Client, alice: User, cluster: Cluster
) -> None:
    _row_of_each(cluster, alice, "chat")
    assert "chat" in text_of(as_alice.get("/deployments/"), "#table")
    Deployment.objects.update(name="renamed")
    cluster.name = "elsewhere"
    cluster.save()
    page = text_of(as_alice.get("/deployments/"), "#table")
    assert "renamed" in page
    assert "elsewhere" in page
    assert not parsed(as_alice.get("/deployments/?q=chat")).select("#table tbody tr")


def test_the_same_rows_are_in_the_language_and_zone_of_each_reader(
    as_alice: Client, alice: User, as_bob: Client, bob: User, cluster: Cluster
) -> None:
    _row_of_each(cluster, alice, "chat")
    User.objects.filter(pk=bob.pk).update(language="zh-hans", time_zone="Asia/Shanghai")
    for _ in range(2):
        english, chinese = (
            parsed(client.get("/releases/")).select_one("#table tbody tr")
            for client in (as_alice, as_bob)
        )
        assert english is not None
        assert chinese is not None
        assert "Live" in english.get_text()
        assert "Live" not in chinese.get_text()
        assert "UTC" in str(english.select_one("time"))
        assert "CST" in str(chinese.select_one("time"))


@pytest.mark.parametrize("key", TABLES)
def test_kept_rows_are_those_that_are_written_anew(
    key: TableKey, alice: User, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the second time, when only the distances in time are put in."""
    _row_of_each(cluster, alice, "chat")
    monkeypatch.setattr("deployments.templatetags.moments.timezone.now", lambda: LATER)
    table, bulk = TABLES[key], False
    page = table_page(alice, table, table_form(table, alice, QueryDict()).state)
    anew = rows_anew(page, bulk=bulk)
    assert table_rows(page) == table_rows(page) == anew


def test_braces_and_zeros_in_a_text_are_only_text() -> None:
    time = datetime(2026, 1, 1, tzinfo=UTC)
    columns = (
        Column(key="name", title="Name", kind=Kind.TEXT),
        Column(key="seen", title="Seen", kind=Kind.MOMENT),
    )
    row = TableRow(pk=uuid.uuid4(), values=("a\0{}b", time))
    page = SimpleNamespace(columns=columns, rows=[row])
    assert "a\0{}b" in table_rows(cast("TablePage", page))

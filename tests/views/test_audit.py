"""The audit page: whose entries, filters, one entry, files, and where it is led to from."""

import csv
import io
import json
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from deployments.models import (
    AuditAction,
    AuditEntry,
    Cluster,
    Deployment,
    Release,
    ReleaseState,
    User,
)
from deployments.selectors.audit import actor_name
from deployments.selectors.audit_chain import check_links
from deployments.services.audit import Origin, acting_from, record
from tests.audit_rows import AuditEntryFactory
from tests.emptying import triggers_set_aside
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    HostFactory,
    UserFactory,
)
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.conftest import logged_in
from tests.views.page_parts import words
from tests.views.pages import parsed, queries_for, text_of

MOST_QUERIES = 12


@pytest.fixture
def root(db: None) -> User:
    """A platform admin who is in no team."""
    return UserFactory.create(username="root", is_superuser=True)


@pytest.fixture
def chat(cluster: Cluster, alice: User) -> Deployment:
    return DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)


@pytest.fixture
def entries(chat: Deployment, cluster: Cluster, alice: User, bob: User) -> None:
    """Acts of alice and bob in the team, of charlie in another, and a log-in of bob."""
    host = HostFactory.create(cluster=cluster, name="gpu-1")
    with acting_from(lambda: Origin(address="192.0.2.7", agent="Firefox, Linux")):
        record(AuditAction.EMERGENCY_STOP, alice, chat, reason="nonsense")
        record(
            AuditAction.HOST_CHANGED,
            bob,
            host,
            before={"address": "10.0.0.1"},
            after={"address": "10.0.0.2", "roots": ["/a"]},
        )
        record(AuditAction.LOGGED_IN, bob, bob)
        other = DeploymentFactory.create(
            cluster=ClusterFactory.create(), name="foreign-canary"
        )
        AuditEntryFactory.create(on=other)


def rows(client: Client, query: str = "") -> list[str]:
    """What was done to what, the newest first."""
    page = parsed(client.get(f"/audit/{query}"))
    assert "foreign-canary" not in str(page)
    return [
        f"{words(row, 'th a')}: {row.select('td')[3].get_text(strip=True)}"
        for row in page.select("#table tbody tr")
    ]


def test_admins_read_their_teams_and_everybody_reads_their_own(
    entries: None, dora: User, alice: User, bob: User, charlie: User
) -> None:
    stop, change = "Emergency stop: chat", "Changed facts of the host: gpu-1"
    assert rows(logged_in(dora)) == [change, stop]
    assert rows(logged_in(alice)) == [stop]
    assert rows(logged_in(bob)) == ["Logged in: bob", change]
    assert rows(logged_in(charlie)) == []


def test_platform_admins_read_all(entries: None, root: User) -> None:
    page = parsed(logged_in(root).get("/audit/"))
    assert len(page.select("#table tbody tr")) == AuditEntry.objects.count() == 4
    assert "foreign-canary" in str(page)


def test_who_left_the_team_reads_nothing_of_it(entries: None, bob: User) -> None:
    bob.memberships.all().delete()
    assert rows(logged_in(bob)) == ["Logged in: bob"]


def test_entries_are_found_by_person_act_object_time_and_words(
    entries: None, dora: User, alice: User, chat: Deployment
) -> None:
    client = logged_in(dora)
    stop, change = "Emergency stop: chat", "Changed facts of the host: gpu-1"
    assert rows(client, f"?by={alice.pk}") == [stop]
    assert rows(client, "?act=host.changed") == [change]
    assert rows(client, "?kind=deployment") == [stop]
    assert rows(client, "?q=bob") == [change]
    assert rows(client, "?q=192.0.2") == [change, stop]
    assert rows(client, f"?q={chat.pk}") == [stop]
    assert rows(client, f"?q={chat.cluster_id}") == [change, stop]
    assert rows(client, f"?q={uuid.uuid4()}") == []
    with triggers_set_aside():
        AuditEntry.objects.filter(action="host.changed").update(
            at=timezone.now() - timedelta(days=3)
        )
    assert rows(client, "?span=day") == [stop]
    assert rows(client, "?span=week") == [stop, change]


def test_one_entry_says_what_changed_from_where_and_leads_to_its_object(
    entries: None, dora: User
) -> None:
    client = logged_in(dora)
    entry = AuditEntry.objects.get(action="host.changed")
    page = parsed(client.get(f"/audit/{entry.pk}/"))
    facts = words(page, "dl.facts")
    for said in ("bob", "192.0.2.7", "Firefox, Linux", "gpu-1"):
        assert said in facts
    assert page.select_one(f'dl.facts a[href="/fleet/hosts/{entry.object_id}/"]')
    cells = [
        [cell.get_text(strip=True) for cell in row.select("th, td")]
        for row in page.select("tbody tr")
    ]
    assert cells == [
        ["address", "10.0.0.1", "10.0.0.2"],
        ["roots", "no value", '["/a"]'],
    ]
    assert entry.digest in page.get_text()
    stop = AuditEntry.objects.get(reason="nonsense")
    assert "nonsense" in text_of(client.get(f"/audit/{stop.pk}/"))
    Deployment.objects.filter(name="chat").delete()
    page = parsed(client.get(f"/audit/{stop.pk}/"))
    assert not page.select_one("dl.facts a")


def test_entries_of_others_are_unknown(entries: None, alice: User, dora: User) -> None:
    theirs = AuditEntry.objects.get(object_name="foreign-canary")
    of_bob = AuditEntry.objects.get(action="host.changed")
    assert logged_in(dora).get(f"/audit/{theirs.pk}/").status_code == 404
    assert logged_in(alice).get(f"/audit/{of_bob.pk}/").status_code == 404


def test_files_hold_what_the_table_shows(entries: None, dora: User) -> None:
    client = logged_in(dora)
    page = parsed(client.get("/audit/?kind=host"))
    hrefs = [str(link["href"]) for link in page.select(".table-links a[download]")]
    assert hrefs == ["/audit/table.csv?kind=host", "/audit/entries.jsonl?kind=host"]
    table = client.get(hrefs[0]).content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["Who"], row["Object"]) == ("bob", "gpu-1")
    lines = client.get(hrefs[1]).content.decode().splitlines()
    (line,) = map(json.loads, lines)
    assert line["after"] == {"address": "10.0.0.2", "roots": ["/a"]}
    assert line["digest"] == AuditEntry.objects.get(action="host.changed").digest


def test_the_whole_file_of_a_platform_admin_is_a_chain(
    entries: None, root: User
) -> None:
    file = logged_in(root).get("/audit/entries.jsonl?sort=at").content.decode()
    found = check_links(map(json.loads, file.splitlines()))
    assert (found.entries, found.broken) == (4, None)


def test_acts_and_kinds_of_a_later_panel_are_shown_as_written(
    entries: None, root: User
) -> None:
    with triggers_set_aside():
        AuditEntry.objects.filter(action="host.changed").update(
            action="host.painted", object_kind="paint"
        )
    client = logged_in(root)
    assert "host.painted" in text_of(client.get("/audit/"))
    entry = AuditEntry.objects.get(action="host.painted")
    assert "host.painted" in text_of(client.get(f"/audit/{entry.pk}/"))


def test_objects_lead_to_their_history(
    chat: Deployment, dora: User, cluster: Cluster
) -> None:
    value = plan_value()
    release: Release = released(stored(chat, value), value, ReleaseState.LIVE)
    client = logged_in(dora)
    host = cluster.hosts.get()
    for path, pk in (
        (f"/deployments/{chat.pk}/", chat.pk),
        (f"/approvals/{release.request_id}/", release.request_id),
        (f"/releases/{release.pk}/", release.pk),
        (f"/fleet/hosts/{host.pk}/", host.pk),
        (f"/fleet/clusters/{cluster.pk}/", cluster.pk),
    ):
        page = parsed(client.get(path))
        assert page.select_one(f'a[href="/audit/?q={pk}"]'), path


def test_queries_do_not_grow_with_the_entries(
    entries: None, dora: User, chat: Deployment
) -> None:
    client = logged_in(dora)
    few = queries_for(client, "/audit/")
    for _ in range(30):
        AuditEntryFactory.create(on=chat)
    assert queries_for(client, "/audit/") == few <= MOST_QUERIES
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert queries_for(client, f"/audit/{entry.pk}/") <= MOST_QUERIES


@pytest.mark.parametrize(
    ("name", "said"),
    [("nobody", "无人"), ("command line", "命令行"), ("worker", "工作进程")],
)
def test_who_has_no_account_is_said_in_the_readers_language(
    name: str, said: str
) -> None:
    """A person may be called so; the name of a person is not translated."""
    with override("zh-hans"):
        assert actor_name(name, None) == said
        assert actor_name(name, 7) == name

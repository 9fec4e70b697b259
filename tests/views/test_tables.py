"""What all tables do: order, filter, search, columns, pages, files, saved views, bulk acts."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from deployments.models import (
    Alarm,
    AlarmKind,
    Cluster,
    Command,
    CommandKind,
    Deployment,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
    RequestState,
    SavedView,
    TableKey,
    User,
)
from deployments.selectors.tables import table as table_room
from deployments.services.catalog import load_shipped_catalog
from deployments.views import tables as tables_view
from tests import factories as f
from tests.views.page_parts import attribute, words
from tests.views.pages import HTMX, parsed, queries_for

PATHS = ("/deployments/", "/releases/", "/approvals/", "/catalog/", "/fleet/hosts/")
MOST_QUERIES = 12
Fill = Callable[[int], None]


@pytest.fixture
def fill(cluster: Cluster, alice: User) -> Fill:
    """Make so many rows of every table."""

    def make(count: int) -> None:
        made = Deployment.objects.count()
        for number in range(made, made + count):
            deployment = f.DeploymentFactory.create(
                cluster=cluster, name=f"chat-{number:03}", created_by=alice
            )
            release = f.ReleaseFactory.create(deployment=deployment, started_by=alice)
            f.ReplicaFactory.create(
                release=release,
                host=f.HostFactory.create(cluster=cluster, name=f"gpu-{number:03}"),
            )
            f.ApprovalRequestFactory.create(
                plan__revision__deployment=deployment, submitted_by=alice
            )
            f.CheckpointFactory.create()

    return make


def names(client: Client, address: str) -> list[str]:
    """What the rows are of, in order."""
    page = parsed(client.get(address))
    return [words(row, "th a") for row in page.select("#table tbody tr")]


def kept(client: Client, address: str) -> list[str]:
    """The rows of the file in the order of a page, those of its other pages included."""
    path, _, query = address.partition("?")
    file = client.get(f"{path}table.csv?{query}").content.decode("utf-8-sig")
    return file.splitlines()[1:]


def said(response: HttpResponse) -> list[str]:
    """The messages that the next page shows."""
    return [str(one) for one in get_messages(response.wsgi_request)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", PATHS)
def test_queries_do_not_grow_with_the_rows(
    as_alice: Client, fill: Fill, path: str
) -> None:
    fill(3)
    few = queries_for(as_alice, path)
    fill(27)
    assert queries_for(as_alice, path) == few <= MOST_QUERIES


@pytest.mark.parametrize("path", PATHS)
def test_htmx_gets_the_table_alone(as_alice: Client, fill: Fill, path: str) -> None:
    fill(1)
    body = parsed(as_alice.get(path, headers=HTMX)).body
    assert body is not None
    assert [child.get("id") for child in body.find_all(recursive=False)] == ["table"]


@pytest.mark.parametrize("path", PATHS)
def test_every_order_of_every_table_works_both_ways(
    as_alice: Client, fill: Fill, path: str
) -> None:
    fill(2)
    load_shipped_catalog()
    page = parsed(as_alice.get(path))
    every = [box["value"] for box in page.select("[name=columns]")]
    shown = parsed(as_alice.get(f"{path}?columns={','.join(map(str, every))}"))
    links = [str(link["href"]) for link in shown.select("thead a")]
    assert links
    for link in links:
        once = parsed(as_alice.get(link))
        heading = once.select_one("th[aria-sort]")
        assert heading is not None
        again = attribute(heading, "a", "href")
        assert names(as_alice, again)
        assert sorted(kept(as_alice, again)) == sorted(kept(as_alice, link))


def test_order_is_that_of_the_column(as_alice: Client, fill: Fill) -> None:
    fill(3)
    assert names(as_alice, "/deployments/?sort=name") == sorted(
        names(as_alice, "/deployments/")
    )
    assert names(as_alice, "/deployments/?sort=-name") == [
        "chat-002",
        "chat-001",
        "chat-000",
    ]


def test_rows_without_a_value_stand_last_in_both_orders(
    as_alice: Client, fill: Fill, cluster: Cluster
) -> None:
    fill(1)
    f.DeploymentFactory.create(cluster=cluster, name="never-deployed")
    for sort in ("state", "-state", "since", "-since"):
        found = names(as_alice, f"/deployments/?sort={sort}")
        assert found == ["chat-000", "never-deployed"]


@pytest.mark.parametrize(
    "query",
    [
        "sort=password",
        "sort=created_by__password",
        "sort=-",
        "columns=nonsense",
        "page=0",
        "page=-3",
        "page=x",
        "cluster=nonsense",
        "show=nonsense",
        "q=chat",
    ],
)
def test_what_the_table_does_not_know_changes_nothing(
    as_alice: Client, fill: Fill, query: str
) -> None:
    fill(2)
    assert names(as_alice, f"/deployments/?{query}") == ["chat-000", "chat-001"]


def test_every_word_of_a_search_must_fit(
    as_alice: Client, fill: Fill, cluster: Cluster
) -> None:
    fill(3)
    assert names(as_alice, "/deployments/?q=CHAT+001") == ["chat-001"]
    assert names(as_alice, f"/deployments/?q=002+{cluster.name}") == ["chat-002"]
    assert names(as_alice, "/deployments/?q=002+elsewhere") == []


def test_what_fits_nothing_leads_back(as_alice: Client, fill: Fill) -> None:
    fill(1)
    page = parsed(as_alice.get("/deployments/?q=nothing"))
    assert attribute(page, "#table .empty a", "href") == "/deployments/"


def test_a_filter_by_cluster_keeps_its_rows(
    as_alice: Client, fill: Fill, cluster: Cluster
) -> None:
    fill(1)
    other = f.ClusterFactory.create(team=cluster.team)
    f.DeploymentFactory.create(cluster=other, name="elsewhere")
    assert names(as_alice, f"/deployments/?cluster={other.pk}") == ["elsewhere"]


def test_columns_are_those_that_were_chosen(as_alice: Client, fill: Fill) -> None:
    fill(1)
    page = parsed(as_alice.get("/deployments/?columns=cluster&columns=state"))
    heads = [head.get_text(strip=True) for head in page.select("thead th")][1:]
    assert [head.rstrip("\N{UPWARDS ARROW} ") for head in heads] == [
        "Deployment",
        "State",
        "Cluster",
    ]
    boxes = page.select("[name=columns][checked]")
    assert {str(box["value"]) for box in boxes} == {"cluster", "state"}


def test_pages_hold_every_row_once(
    as_alice: Client, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those beyond what is counted."""
    monkeypatch.setattr(table_room, "COUNTED_ROWS", 50)
    fill(120)
    found: list[str] = []
    counts: list[str] = []
    address = "/deployments/?sort=state"
    while address:
        page = parsed(as_alice.get(address))
        found += [words(row, "th a") for row in page.select("#table tbody tr")]
        counts += [words(page, "#table [role=status]"), words(page, ".pages span.num")]
        later = page.select_one("a[rel=next]")
        address = str(later["href"]) if later else ""
    assert len(found) == len(set(found)) == 120
    assert [one.partition("of ")[2] for one in counts] == [
        *("more than 50", "more than 1", "more than 100", "more than 2", "120", "3")
    ]
    assert names(as_alice, "/deployments/?page=99") == [
        f"chat-{n:03}" for n in range(100, 120)
    ]


def test_the_file_has_the_rows_and_columns_of_the_table(
    as_alice: Client, fill: Fill
) -> None:
    fill(60)
    query = "sort=-name&columns=name,method,state&q=chat"
    response = as_alice.get(f"/deployments/table.csv?{query}")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "deployments.csv" in response.headers["Content-Disposition"]
    rows = list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert rows[0] == ["Deployment", "State", "Method", "num_speculative_tokens"]
    assert [row[0] for row in rows[1:]] == [f"chat-{n:03}" for n in range(59, -1, -1)]
    assert rows[1][1:] == ["Live", "eagle3", "3"]


@pytest.mark.parametrize(("rows", "complete"), [(50, True), (60, False)])
def test_a_file_that_ends_early_says_so(
    as_alice: Client,
    fill: Fill,
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    *,
    complete: bool,
) -> None:
    fill(rows)
    for module in (table_room, tables_view):
        monkeypatch.setattr(module, "FILE_ROWS", 50)
    monkeypatch.setattr(table_room, "CHUNK_ROWS", 25)
    text = as_alice.get("/deployments/table.csv").content.decode("utf-8-sig")
    assert text.count("chat-") == 50
    assert text.endswith("Only the first 50 rows: narrow the list.\r\n") != complete


@pytest.mark.parametrize("path", PATHS)
def test_every_table_is_also_a_file(as_alice: Client, fill: Fill, path: str) -> None:
    fill(2)
    text = as_alice.get(f"{path}table.csv").content.decode("utf-8-sig")
    assert len(list(csv.reader(io.StringIO(text)))) == 3


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "|calc"])
def test_a_file_holds_no_formula(as_alice: Client, name: str) -> None:
    f.TargetModelFactory.create(key=f"example/{name}", name=name)
    text = as_alice.get("/catalog/table.csv").content.decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text)))[1][0] == f"'{name}"


def test_files_of_strangers_are_empty(as_charlie: Client, fill: Fill) -> None:
    fill(2)
    for path in PATHS[:3]:
        text = as_charlie.get(f"{path}table.csv").content.decode()
        assert "chat-" not in text


def keep(client: Client, name: str, query: str) -> HttpResponse:
    """Keep a view of the deployments."""
    data = {"table": "deployments", "name": name, "query": query}
    response = client.post("/tables/views/", data)
    assert isinstance(response, HttpResponse)
    return response


def test_a_kept_view_leads_back_to_its_state(
    as_alice: Client, as_bob: Client, fill: Fill
) -> None:
    fill(1)
    response = keep(as_alice, "Mine", "q=chat&sort=-name")
    assert response.headers["Location"] == "/deployments/?q=chat&sort=-name"
    page = parsed(as_alice.get("/deployments/?q=chat&sort=-name"))
    link = page.select_one(".views a")
    assert link is not None
    assert link["href"] == "/deployments/?q=chat&sort=-name"
    assert link.get("aria-current") == "true"
    assert parsed(as_bob.get("/deployments/")).select(".views a") == []
    assert parsed(as_alice.get("/releases/")).select(".views a") == []


def test_a_view_of_the_same_name_is_replaced(as_alice: Client) -> None:
    keep(as_alice, "Mine", "q=one")
    keep(as_alice, "Mine", "q=two")
    assert SavedView.objects.get().query == "q=two"


@pytest.mark.parametrize("name", ["", " ", "x" * 61])
def test_a_view_needs_a_name(as_alice: Client, name: str) -> None:
    response = keep(as_alice, name, "q=one")
    assert not SavedView.objects.exists()
    assert "name of at most 60" in said(response)[0]


def test_the_address_of_a_view_stays_in_the_panel(as_alice: Client) -> None:
    response = keep(as_alice, "Odd", "q=a\r\nX-Evil: 1&next=//evil.example/")
    assert response.headers["Location"].startswith("/deployments/?")
    assert "X-Evil" not in response.headers


def test_views_are_limited(as_alice: Client, alice: User) -> None:
    f.SavedViewFactory.create_batch(30, user=alice)
    response = keep(as_alice, "One more", "")
    assert SavedView.objects.count() == 30
    assert "Remove one first" in said(response)[0]


def test_only_the_owner_removes_a_view(as_alice: Client, as_bob: Client) -> None:
    keep(as_alice, "Mine", "q=one")
    view = SavedView.objects.get()
    address = f"/tables/views/{view.pk}/remove/"
    assert as_bob.post(address).status_code == 404
    assert as_alice.get(address).status_code == 405
    assert as_alice.post(address).status_code == 302
    assert not SavedView.objects.filter(table=TableKey.DEPLOYMENTS).exists()


KEY = "7b0d3a4e-9a5e-4c38-9f51-5e7d8f5e0001"


def stop(client: Client, *rows: Deployment, key: str = KEY) -> HttpResponse:
    """Stop the selected deployments."""
    data = {"key": key, "row": [str(row.pk) for row in rows], "query": "sort=name"}
    response = client.post("/deployments/stop/", data)
    assert isinstance(response, HttpResponse)
    return response


def test_only_rows_that_can_be_stopped_can_be_selected(
    as_alice: Client, as_bob: Client, fill: Fill, cluster: Cluster
) -> None:
    fill(1)
    f.DeploymentFactory.create(cluster=cluster, name="never-deployed")
    boxes = parsed(as_alice.get("/deployments/")).select("tbody [name=row]")
    assert [box["aria-label"] for box in boxes] == ["Select chat-000"]
    assert parsed(as_bob.get("/deployments/")).select("#bulk, [name=row]") == []


def test_a_failed_release_can_be_selected_while_something_of_it_may_run(
    as_alice: Client, fill: Fill
) -> None:
    fill(2)
    Release.objects.update(state=ReleaseState.FAILED, cause="out_of_memory")
    ended, runs = Replica.objects.order_by("release__deployment__name")
    Replica.objects.filter(pk=ended.pk).update(state=ReplicaState.EXITED)
    Replica.objects.filter(pk=runs.pk).update(state=ReplicaState.RUNNING)
    boxes = parsed(as_alice.get("/deployments/")).select("tbody [name=row]")
    assert [box["aria-label"] for box in boxes] == ["Select chat-001"]


def test_selected_deployments_are_stopped_once(as_alice: Client, fill: Fill) -> None:
    fill(3)
    one, two, _three = Deployment.objects.order_by("name")
    response = stop(as_alice, one, two)
    assert response.headers["Location"] == "/deployments/?sort=name"
    assert said(response) == ["2 deployments are being stopped."]
    stop(as_alice, one, two)
    stopped = Command.objects.filter(kind=CommandKind.STOP)
    assert {row.release.deployment for row in stopped} == {one, two}
    assert stopped.count() == 2


def test_each_row_is_refused_on_its_own(
    as_alice: Client, as_bob: Client, fill: Fill, cluster: Cluster
) -> None:
    fill(1)
    never = f.DeploymentFactory.create(cluster=cluster, name="never-deployed")
    foreign = f.ReleaseFactory.create().deployment
    running = Deployment.objects.get(name="chat-000")
    messages = said(stop(as_alice, never, foreign, running))
    assert sum("no longer there" in message for message in messages) == 2
    assert "1 deployment is being stopped." in messages
    before = Command.objects.count()
    stop(as_bob, running, key=KEY.replace("1", "2"))
    assert Command.objects.count() == before


@pytest.mark.parametrize(
    "data",
    [{}, {"key": KEY}, {"key": KEY, "row": ["nonsense"]}, {"row": [KEY]}],
)
def test_a_form_without_rows_or_key_stops_nothing(
    as_alice: Client, fill: Fill, data: dict[str, object]
) -> None:
    fill(1)
    response = as_alice.post("/deployments/stop/", data)
    assert response.status_code == 302
    assert not Command.objects.exists()


def test_own_requests_are_withdrawn_together(
    as_alice: Client, fill: Fill, cluster: Cluster, bob: User
) -> None:
    fill(2)
    others = f.ApprovalRequestFactory.create(
        plan__revision__deployment__cluster=cluster, submitted_by=bob
    )
    page = parsed(as_alice.get("/approvals/"))
    mine = [str(box["value"]) for box in page.select("tbody [name=row]")]
    assert len(mine) == 2
    data = {"key": KEY, "row": [*mine, str(others.pk)]}
    response = as_alice.post("/approvals/withdraw/", data)
    assert any("own" in one for one in said(response))  # type: ignore[arg-type]
    others.refresh_from_db()
    assert others.state == RequestState.OPEN
    assert names(as_alice, "/approvals/?show=ended") != []


def test_open_alarms_are_acknowledged_together(
    as_alice: Client, as_bob: Client, fill: Fill, cluster: Cluster
) -> None:
    fill(1)
    deployment = Deployment.objects.get()
    opened = [
        f.AlarmFactory.create(deployment=deployment, kind=kind)
        for kind in (AlarmKind.SILENT_ZERO, AlarmKind.GAP)
    ]
    foreign = f.AlarmFactory.create()
    page = parsed(as_alice.get("/alarms/"))
    boxes = [str(box["value"]) for box in page.select("tbody [name=row]")]
    assert sorted(boxes) == sorted(str(row.pk) for row in opened)
    data = {"key": KEY, "row": [*boxes, str(foreign.pk)], "note": "engine  restarted"}
    response = as_alice.post("/alarms/acknowledge/", data)
    assert len(said(response)) == 2  # type: ignore[arg-type]
    known = Alarm.objects.filter(acknowledged_by__isnull=False, note="engine restarted")
    assert set(known) == set(opened)
    assert not parsed(as_alice.get("/alarms/")).select("tbody [name=row]")
    as_bob.post("/alarms/acknowledge/", {**data, "note": "never"})
    assert not Alarm.objects.filter(note="never").exists()


def test_releases_are_filtered_by_where_they_stand(
    as_alice: Client, cluster: Cluster
) -> None:
    for state, name in (
        (ReleaseState.LIVE, "live"),
        (ReleaseState.PULLING, "changing"),
        (ReleaseState.FAILED, "failed"),
        (ReleaseState.STOPPED, "ended"),
    ):
        f.ReleaseFactory.create(
            deployment__cluster=cluster, deployment__name=name, state=state, number=1
        )
    for name in ("live", "changing", "failed", "ended"):
        assert names(as_alice, f"/releases/?show={name}") == [f"{name} release 1"]


def test_hosts_say_what_is_free(as_alice: Client, cluster: Cluster) -> None:
    full = f.HostFactory.create(cluster=cluster, name="full")
    free = f.HostFactory.create(cluster=cluster, name="free")
    for host in (full, free):
        f.DeviceFactory.create(host=host, number=0)
    replica = f.ReplicaFactory.create(host=full, release__deployment__cluster=cluster)
    f.BookingFactory.create(replica=replica, host=full, device=0)
    f.HostFactory.create(
        cluster=cluster,
        name="silent",
        reachability="unreachable",
        unreachable_since=timezone.now() - timedelta(hours=1),
    )
    assert names(as_alice, "/fleet/hosts/?show=free") == ["free"]
    assert names(as_alice, "/fleet/hosts/?show=silent") == ["silent"]
    assert names(as_alice, "/fleet/hosts/?sort=-booked")[0] == "full"

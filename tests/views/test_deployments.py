"""The list of deployments, and their configuration and releases."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    Cluster,
    Deployment,
    Host,
    Reachability,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
    Standing,
    User,
)
from deployments.planning.plan import Role
from tests.factories import (
    AcceptanceSampleFactory,
    AcceptanceStandingFactory,
    DeploymentFactory,
    ReleaseFactory,
)
from tests.plan_rows import released, request_for, stored
from tests.plan_values import plan_value, planned_replica
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed, queries_for

TIMES = "\N{MULTIPLICATION SIGN}"
TABS = ("", "acceptance/", "configuration/", "releases/")
CANARY = "<script>alert('canary')</script>"


def deployment(cluster: Cluster, author: User, name: str = "chat") -> Deployment:
    """A deployment without revisions."""
    return DeploymentFactory.create(cluster=cluster, name=name, created_by=author)


def live(
    cluster: Cluster, author: User, name: str = "chat", *, practice: bool = False
) -> Release:
    """A live release of a new deployment."""
    row = deployment(cluster, author, name)
    replica = planned_replica(name=name, practice=practice)
    value = plan_value(name=name, replicas=(replica,))
    return released(stored(row, value), value, ReleaseState.LIVE)


def lines(client: Client, query: str = "") -> dict[str, list[str]]:
    """Name and cells of every line; the box that selects it left out."""
    page = parsed(client.get(f"/deployments/{query}"))
    return {
        words(row, "th a"): [
            " ".join(cell.get_text(" ").split())
            for cell in row.select("td:not(.pick-row)")
        ]
        for row in page.select(".table tbody tr")
    }


def test_strangers_see_nothing(
    client: Client, as_charlie: Client, cluster: Cluster, alice: User
) -> None:
    row = live(cluster, alice).deployment
    assert client.get("/deployments/").status_code == 302
    assert lines(as_charlie) == {}
    for tab in TABS:
        assert client.get(f"/deployments/{row.pk}/{tab}").status_code == 302
        assert as_charlie.get(f"/deployments/{row.pk}/{tab}").status_code == 404


def test_pages_are_read_only(as_alice: Client, cluster: Cluster, alice: User) -> None:
    row = live(cluster, alice).deployment
    assert as_alice.post("/deployments/").status_code == 405
    for tab in TABS:
        assert as_alice.post(f"/deployments/{row.pk}/{tab}").status_code == 405


def test_empty_list_leads_to_planning(as_alice: Client) -> None:
    page = parsed(as_alice.get("/deployments/"))
    assert attribute(page, ".empty a", "href") == "/plan/"


def test_line_shows_state_method_hosts_and_acceptance(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice)
    replica = release.replicas.get()
    AcceptanceSampleFactory.create(
        replica=replica, accepted=60, drafted=90, num_drafts=30
    )
    AcceptanceSampleFactory.create(
        replica=replica, accepted=30, drafted=90, num_drafts=30
    )
    state, method, hosts, _spark, length, rate, _verdict = lines(as_alice)["chat"]
    assert (state, method, hosts) == ("Live", f"MTP {TIMES}3", "gpu-1")
    assert (length, rate) == ("2.50", "50 %")


def test_unknown_is_no_data_and_never_zero(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    live(cluster, alice)
    deployment(cluster, alice, "planned-only")
    found = lines(as_alice)
    assert found["chat"][-3:] == ["no data", "no data", "No traffic"]
    assert found["planned-only"][0] == "Never deployed"
    assert found["planned-only"][-3:] == ["no data", "no data", "not live"]


def test_changing_release_beside_a_live_one_shows_as_the_state(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    first = live(cluster, alice)
    value = plan_value(number=2, count=5)
    plan = stored(first.deployment, value)
    released(plan, value, ReleaseState.STARTING, number=2)
    state, method, *_rest = lines(as_alice)["chat"]
    assert (state, method) == ("Starting", f"MTP {TIMES}3")


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("", {"one", "two", "three"}),
        ("?show=live", {"one"}),
        ("?show=failed", {"two"}),
        ("?show=changing", {"three"}),
        ("?show=nonsense", {"one", "two", "three"}),
    ],
)
def test_filter_keeps_what_it_says(
    as_alice: Client, cluster: Cluster, alice: User, query: str, kept: set[str]
) -> None:
    live(cluster, alice, "one")
    for name, state in (
        ("two", ReleaseState.FAILED),
        ("three", ReleaseState.PULLING),
    ):
        value = plan_value(name=name)
        released(stored(deployment(cluster, alice, name), value), value, state)
    assert lines(as_alice, query).keys() == kept


def test_practice_is_marked_everywhere(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice, practice=True)
    paths = [f"/deployments/{release.deployment_id}/{tab}" for tab in TABS]
    for path in ("/deployments/", f"/releases/{release.pk}/", *paths):
        assert parsed(as_alice.get(path)).select_one(".badge.practice"), path


def test_head_names_the_endpoint_with_a_request_to_try(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice)
    Host.objects.update(address="10.0.0.7")
    page = parsed(as_alice.get(f"/deployments/{release.deployment_id}/"))
    request = attribute(page, "[data-copy^=curl]", "data-copy")
    assert request == (
        "curl http://10.0.0.7:8000/v1/chat/completions "
        "-H 'Content-Type: application/json' "
        '-d \'{"model": "chat", "messages": [{"role": "user", "content": "Say hello."}]}\''
    )


def test_what_runs_on_a_silent_host_is_not_seen_and_not_gone(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice)
    release.replicas.update(state=ReplicaState.UNKNOWN)
    Host.objects.update(
        reachability=Reachability.UNREACHABLE, unreachable_since=timezone.now()
    )
    page = parsed(as_alice.get(f"/deployments/{release.deployment_id}/"))
    assert "1 not seen" in words(page, ".facts")
    assert "gpu-1 does not answer." in words(page, ".calls")


def test_endpoint_of_a_host_without_address_is_not_invented(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice)
    Host.objects.update(address="")
    page = parsed(as_alice.get(f"/deployments/{release.deployment_id}/"))
    assert "port 8000 of gpu-1" in words(page, ".facts")
    assert page.select("[data-copy^=curl]") == []


def test_ipv6_endpoint_is_bracketed(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice)
    Host.objects.update(address="fd00::7")
    page = parsed(as_alice.get(f"/deployments/{release.deployment_id}/"))
    assert "http://[fd00::7]:8000/v1" in words(page, ".facts")


def test_prefill_and_decode_have_no_single_endpoint_without_a_router(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    row = deployment(cluster, alice)
    value = plan_value(
        replicas=(
            planned_replica(role=Role.PREFILL, rank=0, port=8000),
            planned_replica(role=Role.DECODE, rank=1, devices=(1,), port=8001),
        )
    )
    released(stored(row, value), value, ReleaseState.LIVE)
    page = parsed(as_alice.get(f"/deployments/{row.pk}/"))
    assert page.select("[data-copy^=curl]") == []


def test_new_revision_starts_from_the_one_that_runs(
    as_alice: Client, as_bob: Client, cluster: Cluster, alice: User
) -> None:
    path = f"/deployments/{live(cluster, alice).deployment_id}/"
    address = attribute(parsed(as_alice.get(path)), ".head .primary", "href")
    assert address.startswith("/plan/?")
    for part in ("name=chat", "host=gpu-1", "tokens=3"):
        assert part in address
    offered = parsed(as_bob.get(path)).select(".head .actions a, .head form")
    assert [one.get_text() for one in offered] == ["Emergency stop"]


def test_configuration_says_where_each_setting_came_from(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    release = live(cluster, alice)
    page = parsed(as_alice.get(f"/deployments/{release.deployment_id}/configuration/"))
    rows = {
        words(row, "th"): [
            cell.get_text(strip=True) for cell in row.select("td:not(.pick-row)")
        ][1:]
        for row in page.select(".table tbody tr")
    }
    assert rows["model"] == ["acme/target", "chosen in the revision"]
    assert rows["--max-num-seqs"] == ["16", "worked out by the planner"]
    assert rows["--speculative-config.num_speculative_tokens"] == [
        "3",
        "chosen in the revision",
    ]
    assert rows["pids limit"] == ["16384", "the panel's default"]
    assert rows["image"][1] == "what the platform needs"
    shown = page.get_text(" ")
    assert "docker-compose.yaml" in shown
    assert "launch.sh" in shown
    assert attribute(page, "a[href$='/files/']", "href") == (
        f"/approvals/{release.request_id}/files/"
    )


@pytest.mark.parametrize("tab", TABS)
def test_deployment_that_never_ran_has_every_tab(
    as_alice: Client, cluster: Cluster, alice: User, tab: str
) -> None:
    row = deployment(cluster, alice)
    request_for(stored(row, plan_value()))
    page = parsed(as_alice.get(f"/deployments/{row.pk}/{tab}"))
    assert "Never deployed" in words(page, ".facts")


def test_releases_tab_lists_releases_and_revisions(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    first = live(cluster, alice)
    value = plan_value(number=2)
    plan = stored(first.deployment, value)
    failed = released(plan, value, ReleaseState.FAILED, number=2)
    Release.objects.filter(pk=failed.pk).update(cause=CANARY)
    answer = as_alice.get(f"/deployments/{first.deployment_id}/releases/")
    page = parsed(answer)
    releases = [
        words(row, "th a") for row in page.select(".table")[0].select("tbody tr")
    ]
    revisions = [
        words(row, "th a") for row in page.select(".table")[1].select("tbody tr")
    ]
    assert (releases, revisions) == (["2", "1"], ["r2", "r1"])
    assert CANARY not in answer.content.decode()
    assert CANARY in page.get_text(" ")


@pytest.mark.parametrize("number", [1, 7])
def test_list_takes_few_queries(
    as_alice: Client, cluster: Cluster, alice: User, number: int
) -> None:
    for place in range(number):
        release = live(cluster, alice, f"deployment-{place}")
        AcceptanceSampleFactory.create(replica=Replica.objects.get(release=release))
    assert queries_for(as_alice, "/deployments/") <= 12


@pytest.mark.parametrize("tab", TABS)
def test_tabs_take_few_queries(
    as_alice: Client, cluster: Cluster, alice: User, tab: str
) -> None:
    release = live(cluster, alice)
    for number in range(2, 6):
        value = plan_value(number=number)
        plan = stored(release.deployment, value)
        released(plan, value, ReleaseState.STOPPED, number=number)
    assert queries_for(as_alice, f"/deployments/{release.deployment_id}/{tab}") <= 12


def test_the_list_says_which_live_deployments_are_silent(
    as_alice: Client, cluster: Cluster
) -> None:
    """The verdict of yesterday is not shown for what nobody hears of; a filter finds them."""
    day_ago = timezone.now() - timedelta(days=1)
    for name, heard in (("heard", timezone.now()), ("quiet", day_ago)):
        release = ReleaseFactory.create(
            deployment__cluster=cluster, deployment__name=name, live_at=day_ago
        )
        AcceptanceStandingFactory.create(
            deployment=release.deployment, heard_at=heard, verdict=Standing.HEALTHY
        )
    rows = parsed(as_alice.get("/deployments/")).select("tbody tr")
    said = [row.get_text(" ", strip=True) for row in rows]
    assert "Healthy" in said[0]
    assert "No data" in said[1]
    assert "Healthy" not in said[1]
    silent = parsed(as_alice.get("/deployments/?show=silent")).select("tbody tr")
    assert [row.select("a")[0].get_text(strip=True) for row in silent] == ["quiet"]

"""Fleet, host and cluster pages: who holds which device, and who may change a policy."""

from datetime import timedelta
from typing import Any

import pytest
from bs4 import Tag
from django.test import Client
from django.utils import timezone

from deployments.models import Cluster, Host, Platform, Reachability, ReleaseState
from tests import factories
from tests.views.pages import HTMX, parsed, queries_for, text_of


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """A reachable Atlas A3 host with four devices on two cards."""
    row = factories.HostFactory.create(
        cluster=cluster,
        name="a3-01",
        platform=Platform.ASCEND_A3,
        clock_offset_ms=-11,
        images=[
            {"reference": "vllm/vllm-openai:v1", "image_id": "sha256:" + "ab" * 32}
        ],
        used_ports=[8000],
    )
    for number in range(4):
        factories.DeviceFactory.create(host=row, number=number)
    return row


def book(host: Host, *devices: int, name: str, **release: object) -> None:
    """Let a new deployment hold devices of the host."""
    role = release.pop("role", "combined")
    replica = factories.ReplicaFactory.create(
        host=host,
        role=role,
        release=factories.ReleaseFactory.create(
            deployment__cluster=host.cluster, deployment__name=name, **release
        ),
    )
    for device in devices:
        factories.BookingFactory.create(replica=replica, device=device)


def runs(client: Client) -> list[tuple[str, str]]:
    """Kind and text of each run of device cells on the fleet page."""

    def kind(run: Tag) -> str:
        names = run.get_attribute_list("class")
        return next(str(name) for name in names if name not in {"booking", "loose"})

    cells = parsed(client.get("/fleet/")).select(".host .booking")
    return [(kind(run), " ".join(run.get_text(" ").split())) for run in cells]


@pytest.mark.parametrize("path", ["/fleet/", "hosts", "clusters"])
def test_anonymous_people_are_sent_to_log_in(host: Host, path: str) -> None:
    """Nothing of the fleet is shown without an account."""
    paths = {
        "hosts": f"/fleet/hosts/{host.pk}/",
        "clusters": f"/fleet/clusters/{host.cluster_id}/",
    }
    response = Client().get(paths.get(path, path))
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/accounts/login/")


def test_the_fleet_of_another_team_is_not_there(as_charlie: Client, host: Host) -> None:
    """Lists leave it out, addresses of it lead nowhere, changes too."""
    assert "a3-01" not in as_charlie.get("/fleet/").content.decode()
    assert as_charlie.get(f"/fleet/hosts/{host.pk}/").status_code == 404
    assert as_charlie.get(f"/fleet/clusters/{host.cluster_id}/").status_code == 404
    assert as_charlie.post(f"/fleet/clusters/{host.cluster_id}/").status_code == 404


def test_the_fleet_takes_no_changes(as_dora: Client, host: Host) -> None:
    """It is read; hosts and clusters have pages of their own."""
    assert as_dora.post("/fleet/").status_code == 405


def test_devices_are_cells_with_their_holder(as_alice: Client, host: Host) -> None:
    """Neighbours of one holder are one run; free devices say so to screen readers."""
    book(host, 0, name="chat")
    book(host, 1, name="reader", role="prefill")
    book(host, 2, name="next", state=ReleaseState.PULLING)
    assert runs(as_alice) == [
        ("used", "0 chat"),
        ("prefill", "1 reader , prefill"),
        ("held", "2 next"),
        ("free", "3 free"),
    ]


def test_a_given_back_device_is_free(as_alice: Client, host: Host) -> None:
    """Bookings that ended hold nothing."""
    book(host, 0, name="gone")
    host.bookings.update(released_at=timezone.now())
    assert runs(as_alice) == [("free", "0 1 2 3 free")]


def test_cards_of_an_atlas_a3_hold_two_devices(as_alice: Client, host: Host) -> None:
    """A die is a device; two of them sit on one card."""
    cards = parsed(as_alice.get("/fleet/")).select(".host .card")
    assert [card.get_text(" ", strip=True) for card in cards] == ["0 1", "2 3"]


def test_unhealthy_devices_stand_out(as_alice: Client, host: Host) -> None:
    """What the runtime reports as unhealthy is not shown as free."""
    host.devices.filter(number=2).update(healthy=False)
    assert ("alien", "2 unhealthy") in runs(as_alice)


def test_a_degraded_host_is_shown_with_the_reason_and_counted(
    as_alice: Client, host: Host
) -> None:
    """It answers, so its devices are as they are; when calls rest, the page says until when."""
    Host.objects.filter(pk=host.pk).update(
        reachability=Reachability.DEGRADED,
        reason="It took 2500 ms to answer.",
        failed_calls=3,
        next_try_at=timezone.now() + timedelta(seconds=29.9),
    )
    page = text_of(as_alice.get("/fleet/"))
    assert "1 host is degraded." in page
    assert "does not answer" not in page
    shown = text_of(as_alice.get("/fleet/"), ".host")
    assert "Degraded" in shown
    assert "It took 2500 ms to answer." in shown
    own = text_of(as_alice.get(f"/fleet/hosts/{host.pk}/")).replace("\u00a0", " ")
    assert "It took 2500 ms to answer." in own
    assert "3 calls failed in a row: next try in" in own
    table = as_alice.get("/fleet/hosts/", {"state": "degraded"})
    assert host.name in text_of(table, "tbody")


def test_an_unreachable_host_says_since_when_and_why(
    as_alice: Client, host: Host
) -> None:
    """Its devices are as they were last seen."""
    Host.objects.filter(pk=host.pk).update(
        reachability=Reachability.UNREACHABLE,
        reason="Connection refused.",
        unreachable_since=timezone.now() - timedelta(minutes=160),
    )
    text = text_of(as_alice.get("/fleet/"), ".host")
    assert "Unreachable" in text
    assert "2 h ago" in text.replace("\u00a0", " ")
    assert "Connection refused." in text
    assert runs(as_alice) == [("stale", "0 1 2 3 free when last seen")]
    assert "Connection refused." in text_of(as_alice.get(f"/fleet/hosts/{host.pk}/"))


@pytest.mark.parametrize(("offset", "warnings"), [(2000, 0), (-2001, 1)])
def test_a_clock_that_is_off_is_named(
    as_alice: Client, host: Host, offset: int, warnings: int
) -> None:
    """More than two seconds shift what charts show."""
    Host.objects.filter(pk=host.pk).update(clock_offset_ms=offset)
    assert text_of(as_alice.get("/fleet/"), ".host").count("Clock off") == warnings


def test_a_cluster_without_hosts_says_how_to_get_one(
    as_alice: Client, cluster: Cluster
) -> None:
    """The first host comes from the local Docker Engine."""
    assert "apt-get install docker.io" in text_of(as_alice.get("/fleet/"))


def test_the_fleet_takes_few_queries(as_alice: Client, host: Host) -> None:
    """The same for one host and for nine."""
    book(host, 0, name="chat")
    one = queries_for(as_alice, "/fleet/")
    for number in range(8):
        more = factories.HostFactory.create(cluster=host.cluster)
        factories.DeviceFactory.create(host=more, number=0)
        book(more, 0, name=f"chat-{number}")
    assert queries_for(as_alice, "/fleet/") == one <= 10


def test_a_large_fleet_shows_those_to_look_at_and_counts_all(
    as_alice: Client, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is a table away; sums and equipment are those of all."""
    monkeypatch.setattr("deployments.selectors.fleet.MOST_SHOWN", 2)
    monkeypatch.setattr("deployments.selectors.fleet.FEWEST_SHOWN", 1)
    for number in range(3):
        more = factories.HostFactory.create(
            cluster=host.cluster, name=f"b{number}", platform=Platform.ASCEND_A3
        )
        for device in range(4):
            factories.DeviceFactory.create(host=more, number=device)
    silent = factories.HostFactory.create(
        cluster=host.cluster, name="z", reachability=Reachability.UNREACHABLE,
        unreachable_since=timezone.now(), platform=Platform.ASCEND_A3,
    )  # fmt: skip
    book(host, 0, name="chat")

    for path in ("/fleet/", f"/fleet/clusters/{host.cluster_id}/"):
        page = parsed(as_alice.get(path))
        assert [one.get_text() for one in page.select(".host h3")] == ["a3-01", "z"]
        link = page.select_one(f'a[href="/fleet/hosts/?cluster={host.cluster_id}"]')
        assert link
        assert "3 more hosts." in link.parent.get_text()  # type: ignore[union-attr]
    assert "5 hosts. 1 cluster. 1 of 16 devices booked." in text_of(
        as_alice.get("/fleet/"), ".sub"
    )
    silent.delete()
    note = text_of(as_alice.get("/fleet/"), ".block-head")
    assert "4 Ascend Atlas A3 hosts, 4 devices each" in note


def test_a_host_lists_devices_images_ports_and_containers(
    as_alice: Client, host: Host
) -> None:
    """With the release behind each container; the practice image says so."""
    book(host, 0, name="chat", plan__practice=True)
    response = as_alice.get(f"/fleet/hosts/{host.pk}/")
    text = text_of(response)
    assert "vllm/vllm-openai:v1" in text
    assert "8000" in text
    assert "80 GiB" in text.replace("\u00a0", " ")
    assert "\u221211 ms" in text.replace("\u00a0", " ")
    assert parsed(response).select_one("tbody .practice") is not None
    assert queries_for(as_alice, f"/fleet/hosts/{host.pk}/") <= 11


def policy(**changes: Any) -> dict[str, Any]:
    """What the form of a cluster sends."""
    return {
        "requires_other_approver": "on",
        "image_rewrites": "vllm/vllm-openai -> registry.example/mirror/vllm-openai",
        "model_roots": "/data/models\n",
        "shown_version": "1",
        **changes,
    }


def test_people_who_are_no_admin_read_the_policy(
    as_alice: Client, cluster: Cluster
) -> None:
    """No form, but the values."""
    page = parsed(as_alice.get(f"/fleet/clusters/{cluster.pk}/"))
    assert page.select("main form") == []
    assert "by another person than the author" in page.get_text()


def test_people_who_are_no_admin_cannot_change_the_policy(
    as_alice: Client, cluster: Cluster
) -> None:
    """Refused before the form is read, whatever the page offers."""
    response = as_alice.post(f"/fleet/clusters/{cluster.pk}/", policy())
    assert response.status_code == 403
    assert "You may not do this" in text_of(response, "h1")
    cluster.refresh_from_db()
    assert cluster.policy_version == 1


def test_an_admin_changes_the_policy(as_dora: Client, cluster: Cluster) -> None:
    """A new version holds, and the page says that new plans follow it."""
    path = f"/fleet/clusters/{cluster.pk}/"
    response = as_dora.post(path, policy(requires_other_approver=""), follow=True)
    assert response.redirect_chain == [(path, 302)]
    assert "The policy is changed" in text_of(response, ".messages")
    cluster.refresh_from_db()
    assert cluster.policy_version == 2
    assert cluster.requires_other_approver is False
    assert cluster.image_rewrites == [
        ["vllm/vllm-openai", "registry.example/mirror/vllm-openai"]
    ]
    assert cluster.model_roots == ["/data/models"]


def test_trying_rewrites_changes_nothing(as_dora: Client, cluster: Cluster) -> None:
    """Without scripts the whole page comes back, with them the example alone."""
    path = f"/fleet/clusters/{cluster.pk}/"
    data = policy(example="vllm/vllm-openai:v9", **{"try": "yes"})
    whole = as_dora.post(path, data)
    assert "registry.example/mirror/vllm-openai:v9" in text_of(
        whole, "#rewrite-example"
    )
    assert parsed(whole).select_one("main form") is not None
    part = parsed(as_dora.post(path, data, headers=HTMX)).body
    assert part is not None
    assert [child.get("id") for child in part.find_all(recursive=False)] == [
        "rewrite-example"
    ]
    cluster.refresh_from_db()
    assert cluster.policy_version == 1


def test_a_policy_that_cannot_be_read_is_refused_and_kept_in_the_form(
    as_dora: Client, cluster: Cluster
) -> None:
    """422, the reason above the form, and what was typed."""
    response = as_dora.post(
        f"/fleet/clusters/{cluster.pk}/", policy(image_rewrites="just words")
    )
    assert response.status_code == 422
    assert "just words” is no rewrite" in text_of(response, ".error-summary")
    area = parsed(response).select_one("#id_image_rewrites")
    assert area is not None
    assert area.get_text().strip() == "just words"


def test_a_policy_changed_meanwhile_is_a_conflict(
    as_dora: Client, cluster: Cluster
) -> None:
    """409 with what was typed; saving again then counts for the newer version."""
    Cluster.objects.filter(pk=cluster.pk).update(policy_version=5)
    path = f"/fleet/clusters/{cluster.pk}/"
    response = as_dora.post(path, policy())
    assert response.status_code == 409
    assert "Somebody changed this policy" in text_of(response, ".error-summary")
    version = parsed(response).select_one("#id_shown_version")
    assert version is not None
    again = as_dora.post(path, policy(shown_version=version["value"]))
    assert again.status_code == 302

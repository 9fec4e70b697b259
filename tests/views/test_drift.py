"""Drift on the pages, and the ways out of it: restore what was approved, or go back to what ran before."""

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    Cluster,
    Command,
    DriftKind,
    Release,
    ReleaseState,
    Replica,
    RequestState,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.planning.text import text
from deployments.selectors.planning_inputs import host_snapshots
from tests.factories import DeploymentFactory, HostFactory
from tests.plan_rows import released, stored, vote
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed, queries_for


@pytest.fixture
def releases(cluster: Cluster, alice: User, bob: User) -> list[Release]:
    """Two revisions of one deployment that were approved and live; the second one serves."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    hosts = [HostFactory.create(cluster=cluster, name="gpu-1")]
    snapshots = tuple((one.name, one.digest) for one in host_snapshots(hosts))
    made = []
    for number in (1, 2):
        Release.objects.update(state=ReleaseState.STOPPED)
        value = replace(plan_value(number=number), snapshot_digests=snapshots)
        release = released(stored(deployment, value), value, number=number)
        vote(release.request, bob)
        made.append(release)
    made[0].refresh_from_db()
    return made


def drifted(release: Release, kind: DriftKind = DriftKind.RENAMED) -> Replica:
    """Somebody did something outside the panel."""
    release.replicas.update(
        drift=kind,
        drift_text=text("{name} was renamed.", name="chat-r2"),
        drift_action=text("Undo it there."),
        drift_since=timezone.now(),
    )
    return release.replicas.get()


def buttons(client: Client, path: str) -> dict[str, str]:
    """What is offered behind a confirmation, by label, with where it is sent."""
    page = parsed(client.get(path))
    return {
        " ".join(summary.get_text().split()): str(form["action"])
        for one in page.select("details.confirm")
        for summary in one.select("summary")
        for form in one.select("form")
    }


def key_on(client: Client, path: str, action: str) -> dict[str, str]:
    """The hidden key of a form."""
    page = parsed(client.get(path))
    return {"key": attribute(page, f"form[action='{action}'] [name=key]", "value")}


@pytest.mark.parametrize("kind", list(DriftKind))
def test_drift_is_said_on_every_page_that_shows_the_deployment(
    as_alice: Client, as_charlie: Client, releases: list[Release], kind: DriftKind
) -> None:
    """The cause and what to do about it, with a word and an icon for the kind."""
    replica = drifted(releases[1], kind)
    pages = (
        f"/deployments/{releases[1].deployment_id}/",
        f"/releases/{releases[1].pk}/",
        f"/fleet/hosts/{replica.host_id}/",
        "/",
    )
    for path in pages:
        said = words(parsed(as_alice.get(path)), "main")
        assert "chat-r2 was renamed. Undo it there." in said, path
        assert str(kind.label) in said, path
        assert queries_for(as_alice, path) <= 12, path
    assert "chat-r2" not in words(parsed(as_charlie.get("/")), "main")


def test_what_a_release_says_itself_is_said_once(
    as_alice: Client, releases: list[Release]
) -> None:
    replica = drifted(releases[1], DriftKind.STOPPED)
    Release.objects.filter(pk=releases[1].pk).update(
        state=ReleaseState.FAILED, cause=replica.drift_text
    )
    said = words(parsed(as_alice.get(f"/releases/{releases[1].pk}/")), "main")
    assert said.count("chat-r2 was renamed.") == 1
    path = f"/deployments/{releases[1].deployment_id}/"
    assert "chat-r2 was renamed." in words(parsed(as_alice.get(path)), "main")
    assert "Restore" in buttons(as_alice, path)


def test_without_drift_nothing_is_said(
    as_alice: Client, releases: list[Release]
) -> None:
    path = f"/deployments/{releases[1].deployment_id}/"
    assert not parsed(as_alice.get(path)).select(".calls")
    assert "Nothing waits for you." in words(parsed(as_alice.get("/")), "main")
    assert list(buttons(as_alice, path)) == ["Roll back to r1", "Stop"]
    assert not parsed(as_alice.get(path)).select(".calls + .fold")


def test_a_drifted_deployment_is_restored_with_one_click(
    as_alice: Client, releases: list[Release]
) -> None:
    drifted(releases[1])
    path = f"/deployments/{releases[1].deployment_id}/"
    again = f"/releases/{releases[1].pk}/again/"
    assert buttons(as_alice, path)["Restore"] == again
    ways = parsed(as_alice.get(path)).select(".calls + .fold dt")
    assert [way.text for way in ways] == ["Restore", "Plan the change", "Leave it"]
    sent = key_on(as_alice, path, again)
    first, answer = (as_alice.post(again, sent) for _click in range(2))
    assert (first.status_code, answer.status_code) == (302, 302)
    begun = Release.objects.get(number=3)
    assert answer.headers["Location"] == f"/releases/{begun.pk}/"
    assert (begun.plan, begun.request) == (releases[1].plan, releases[1].request)
    assert (begun.state, begun.replaces) == (ReleaseState.QUEUED, releases[1])
    assert Command.objects.get().release == begun
    assert list(buttons(as_alice, path)) == []


def test_back_to_an_earlier_revision_from_the_history(
    as_alice: Client, as_bob: Client, releases: list[Release]
) -> None:
    path = f"/deployments/{releases[1].deployment_id}/releases/"
    again = f"/releases/{releases[0].pk}/again/"
    page = parsed(as_alice.get(path))
    assert len(page.select(f"table form[action='{again}']")) == 1
    assert not parsed(as_bob.get(path)).select("form[action$='/again/']")
    assert queries_for(as_alice, path) <= 12
    answer = as_alice.post(again, key_on(as_alice, path, again))
    begun = Release.objects.get(number=3)
    assert answer.headers["Location"] == f"/releases/{begun.pk}/"
    assert (begun.plan, begun.replaces) == (releases[0].plan, releases[1])


def test_a_failed_release_offers_itself_and_the_way_back(
    as_alice: Client, releases: list[Release]
) -> None:
    Release.objects.filter(pk=releases[1].pk).update(
        state=ReleaseState.FAILED, cause="Because."
    )
    found = buttons(as_alice, f"/releases/{releases[1].pk}/")
    assert found["Release r2 again"] == f"/releases/{releases[1].pk}/again/"
    assert found["Roll back to r1"] == f"/releases/{releases[0].pk}/again/"
    assert not [
        one for one in buttons(as_alice, f"/releases/{releases[0].pk}/") if "r1" in one
    ]


def test_where_another_release_serves_there_is_no_way_back_to_offer(
    as_alice: Client, releases: list[Release]
) -> None:
    Release.objects.filter(pk=releases[1].pk).update(
        state=ReleaseState.FAILED, cause="Because."
    )
    Release.objects.filter(pk=releases[0].pk).update(state=ReleaseState.LIVE)
    found = buttons(as_alice, f"/releases/{releases[1].pk}/")
    assert "Release r2 again" in found
    assert "Roll back to r1" not in found


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"votes": False}, 409, "No approval of this plan holds any more"),
        ({"state": RequestState.STALE}, 409, "Out of date"),
        ({"state": RequestState.APPROVED}, 409, "was not released yet"),
        ({"address": "10.9.8.7"}, 409, "gpu-1 changed since this plan was made"),
    ],
)
def test_what_may_not_run_is_refused_with_its_reason(
    as_alice: Client,
    releases: list[Release],
    change: dict[str, object],
    status: int,
    said: str,
) -> None:
    earlier = releases[0]
    if "votes" in change:
        RoleGrant.objects.filter(role=TeamRole.APPROVER).delete()
    if "state" in change:
        type(earlier.request).objects.filter(pk=earlier.request_id).update(
            state=change["state"], expires_at=timezone.now() + timedelta(days=1)
        )
    if "address" in change:
        earlier.deployment.cluster.hosts.update(address=change["address"])
    answer = as_alice.post(f"/releases/{earlier.pk}/again/", {"key": str(uuid.uuid4())})
    assert answer.status_code == status
    assert said in words(parsed(answer), ".error-summary")
    assert Release.objects.count() == 2
    assert not Command.objects.exists()


def test_one_key_begins_one_thing(as_alice: Client, releases: list[Release]) -> None:
    sent = {"key": str(uuid.uuid4())}
    assert as_alice.post(f"/releases/{releases[0].pk}/again/", sent).status_code == 302
    answer = as_alice.post(f"/releases/{releases[1].pk}/again/", sent)
    assert answer.status_code == 409
    assert "out of date" in words(parsed(answer), ".error-summary")
    assert Release.objects.count() == 3


def test_containers_that_no_record_knows_are_listed_on_their_host(
    as_alice: Client, releases: list[Release]
) -> None:
    host = releases[1].replicas.get().host
    path = f"/fleet/hosts/{host.pk}/"
    assert "Not in the records" not in words(parsed(as_alice.get(path)), "main")
    type(host).objects.update(strangers=[{"name": "forged", "state": "running"}])
    said = words(parsed(as_alice.get(path)), "main")
    assert "1 container carries the label of this panel" in said
    assert "forged running" in said

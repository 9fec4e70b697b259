"""The page of an emergency stop: who may, what it asks for, and what it says."""

import uuid

import pytest
from django.test import Client

from deployments.models import (
    Cluster,
    Command,
    CommandKind,
    Release,
    ReleaseState,
    TeamRole,
    User,
)
from tests.factories import DeploymentFactory, member
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.conftest import logged_in
from tests.views.page_parts import words
from tests.views.pages import parsed, queries_for


@pytest.fixture
def release(cluster: Cluster, alice: User) -> Release:
    """A live release."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value()
    return released(stored(deployment, value), value, ReleaseState.LIVE)


def page_of(release: Release) -> str:
    return f"/deployments/{release.deployment_id}/emergency-stop/"


def order(reason: str = "It answers nonsense.") -> dict[str, str]:
    return {"key": str(uuid.uuid4()), "reason": reason}


@pytest.mark.parametrize("role", [TeamRole.OPERATOR, TeamRole.APPROVER, TeamRole.ADMIN])
def test_each_of_three_roles_is_enough(release: Release, role: TeamRole) -> None:
    team = release.deployment.cluster.team
    client = logged_in(member(team, f"one-{role}", role))
    for path in (f"/deployments/{release.deployment_id}/", f"/releases/{release.pk}/"):
        assert parsed(client.get(path)).select(f"a[href='{page_of(release)}']"), path
    page = parsed(client.get(page_of(release)))
    assert "chat-combined-0" in words(page, "main")
    assert queries_for(client, page_of(release)) <= 12
    sent = order()
    answer = client.post(page_of(release), sent)
    assert answer.headers["Location"] == f"/releases/{release.pk}/"
    assert client.post(page_of(release), sent).status_code == 302
    release.refresh_from_db()
    assert release.state == ReleaseState.STOPPING
    assert Command.objects.get().kind == CommandKind.STOP
    said = words(parsed(client.get(f"/releases/{release.pk}/")), "main")
    assert f"Emergency stop by one-{role}: It answers nonsense." in said


def test_looking_on_is_not_enough(
    release: Release, as_charlie: Client, client: Client
) -> None:
    team = release.deployment.cluster.team
    viewer = logged_in(member(team, "vera", TeamRole.VIEWER))
    path = f"/deployments/{release.deployment_id}/"
    assert not parsed(viewer.get(path)).select(f"a[href='{page_of(release)}']")
    page = parsed(viewer.get(page_of(release)))
    assert "none of which you hold" in words(page, "main")
    assert not page.select("main form")
    for sent in (order(), {}):
        assert viewer.post(page_of(release), sent).status_code == 403
        assert as_charlie.post(page_of(release), sent).status_code == 404
        assert client.post(page_of(release), sent).status_code == 302
    assert not Command.objects.exists()


@pytest.mark.parametrize("reason", ["", "   ", "x" * 301])
def test_without_a_reason_nothing_stops(
    as_alice: Client, release: Release, reason: str
) -> None:
    answer = as_alice.post(page_of(release), order(reason))
    assert answer.status_code == 422
    assert "Reason" in words(parsed(answer), ".error-summary")
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE


def test_where_nothing_runs_it_says_so(as_alice: Client, release: Release) -> None:
    Release.objects.update(state=ReleaseState.STOPPED)
    release.replicas.update(state="exited")
    path = f"/deployments/{release.deployment_id}/"
    assert not parsed(as_alice.get(path)).select(f"a[href='{page_of(release)}']")
    assert "Nothing of it was last seen running." in words(
        parsed(as_alice.get(page_of(release))), "main"
    )
    answer = as_alice.post(page_of(release), order())
    assert answer.status_code == 409
    assert "Nothing of chat runs." in words(parsed(answer), ".error-summary")

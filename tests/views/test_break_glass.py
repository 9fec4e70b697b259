"""The page that starts without approval, its mark, and the open review on the list."""

import uuid

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.models import (
    ApprovalRequest,
    BreakGlass,
    Cluster,
    Release,
    Team,
    TeamRole,
    User,
)
from tests.factories import DeploymentFactory, HostFactory, member
from tests.plan_rows import request_for, stored
from tests.plan_values import plan_value
from tests.views.page_parts import words
from tests.views.pages import parsed

PASSWORD = "a long password 123"  # noqa: S105


@pytest.fixture(name="request_row")
def open_request(cluster: Cluster, alice: User) -> ApprovalRequest:
    """An open request of alice."""
    HostFactory.create(cluster=cluster, name="gpu-1")
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    return request_for(stored(row, plan_value()))


@pytest.fixture
def as_gina(team: Team) -> Client:
    """A browser of somebody with the grant, who logged in long ago."""
    gina = member(team, "gina", TeamRole.BREAK_GLASS)
    gina.set_password(PASSWORD)
    gina.save()
    client = Client()
    client.force_login(gina)
    return client


def path(row: ApprovalRequest, act: str = "break-glass/") -> str:
    return f"/approvals/{row.pk}/{act}"


def sent(**changes: str) -> dict[str, str]:
    return {
        "key": str(uuid.uuid4()),
        "incident": "INC-7",
        "reason": "Nothing answers.",
        **changes,
    }


def started(client: Client, row: ApprovalRequest) -> None:
    """The form, then the password that it asks for."""
    answer = client.post(path(row), sent())
    assert answer.status_code == 302
    assert "/accounts/reauthenticate/" in answer.headers["Location"]
    assert not Release.objects.exists()
    client.post(answer.headers["Location"], {"password": PASSWORD})
    if not Release.objects.exists():
        client.post(path(row), sent())


def test_others_get_no_further(
    as_alice: Client, as_bob: Client, as_charlie: Client, request_row: ApprovalRequest
) -> None:
    for client, status in ((as_alice, 403), (as_bob, 403), (as_charlie, 404)):
        assert client.post(path(request_row), sent()).status_code == status
    assert parsed(as_alice.get(path(request_row))).select("main form") == []
    assert not Release.objects.exists()


def test_it_asks_for_the_password_again_and_marks_what_it_started(
    as_gina: Client, as_bob: Client, as_alice: Client, request_row: ApprovalRequest
) -> None:
    assert "break-glass" in as_gina.get(path(request_row, "")).content.decode()
    assert "break-glass" not in as_bob.get(path(request_row, "")).content.decode()
    started(as_gina, request_row)

    use = BreakGlass.objects.get()
    for address in (path(request_row, ""), f"/releases/{use.release_id}/"):
        shown = as_alice.get(address).content.decode()
        assert "Started without approval" in shown
        assert "INC-7" in shown
    assert "not reviewed" in as_alice.get("/approvals/").content.decode()
    refused = as_alice.post(path(request_row, "review/"), {"review": "Fine."})
    assert refused.status_code == 403
    assert parsed(as_bob.get(path(request_row, ""))).select("#glass-review")
    as_bob.post(path(request_row, "review/"), {"review": "It was right."})
    page = parsed(as_alice.get(path(request_row, "")))
    assert "It was right." in words(page, ".cause")
    assert "not reviewed" not in as_alice.get("/approvals/").content.decode()


def test_without_an_incident_nothing_starts(
    as_gina: Client, request_row: ApprovalRequest
) -> None:
    assert as_gina.post(path(request_row), sent(incident=" ")).status_code == 422


def test_the_list_takes_few_queries(
    as_gina: Client,
    request_row: ApprovalRequest,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    started(as_gina, request_row)
    with django_assert_max_num_queries(12):
        as_gina.get("/approvals/")

"""The list of approval requests: what waits, for this person first."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import ApprovalRequest, Cluster, RequestState, User
from tests.factories import DeploymentFactory
from tests.plan_rows import request_for, stored
from tests.plan_values import plan_value
from tests.views.page_parts import words
from tests.views.pages import parsed, queries_for


def request_of(
    cluster: Cluster, author: User, name: str, state: RequestState = RequestState.OPEN
) -> ApprovalRequest:
    """A request for a new deployment."""
    deployment = DeploymentFactory.create(cluster=cluster, name=name, created_by=author)
    return request_for(stored(deployment, plan_value(name=name)), state)


def names(client: Client, query: str = "") -> list[str]:
    """The deployments in the list, in order."""
    page = parsed(client.get(f"/approvals/{query}"))
    return [words(line, "th a") for line in page.select("#table tbody tr")]


def test_anonymous_people_are_sent_to_log_in(client: Client, db: None) -> None:
    assert client.get("/approvals/").status_code == 302


def test_list_is_read_only(as_bob: Client) -> None:
    assert as_bob.post("/approvals/").status_code == 405


def test_empty_list_says_how_requests_come_to_be(as_bob: Client) -> None:
    page = parsed(as_bob.get("/approvals/"))
    assert "Nothing waits for a decision" in words(page, ".empty")


def test_what_i_may_decide_stands_first(
    as_bob: Client, cluster: Cluster, alice: User, bob: User
) -> None:
    request_of(cluster, alice, "mine-to-decide")
    request_of(cluster, alice, "approved", RequestState.APPROVED)
    request_of(cluster, bob, "my-own")
    assert names(as_bob) == ["mine-to-decide r1", "my-own r1", "approved r1"]
    page = parsed(as_bob.get("/approvals/"))
    buttons = [words(line, ".button") for line in page.select("#table tbody tr")]
    assert [button.split()[0] for button in buttons] == ["Decide", "Open", "Open"]
    assert words(page, ".nav .count").startswith("1")


def test_ended_requests_have_a_list_of_their_own(
    as_bob: Client, cluster: Cluster, alice: User, bob: User
) -> None:
    request_of(cluster, alice, "open")
    request_of(cluster, alice, "rejected", RequestState.REJECTED)
    late = request_of(cluster, alice, "late")
    ApprovalRequest.objects.filter(pk=late.pk).update(
        expires_at=timezone.now() - timedelta(minutes=1)
    )
    assert names(as_bob) == ["open r1"]
    assert sorted(names(as_bob, "?show=ended")) == ["late r1", "rejected r1"]
    assert "Expired" in parsed(as_bob.get("/approvals/?show=ended")).get_text(" ")


def test_foreign_requests_are_not_listed_or_counted(
    as_charlie: Client, cluster: Cluster, alice: User
) -> None:
    request_of(cluster, alice, "secret-name")
    content = as_charlie.get("/approvals/").content.decode()
    assert "secret-name" not in content
    assert parsed(as_charlie.get("/approvals/")).select(".nav .count") == []


@pytest.mark.parametrize("number", [1, 8])
def test_list_takes_few_queries(
    as_bob: Client, cluster: Cluster, alice: User, number: int
) -> None:
    for place in range(number):
        request_of(cluster, alice, f"deployment-{place}")
    assert queries_for(as_bob, "/approvals/") <= 9

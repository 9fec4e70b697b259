"""The page of a cluster's approval rules, and what they change on the page of a request."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.models import ApprovalRequest, Cluster, Decision, Team, TeamRole, User
from deployments.planning.approval_rules import ApprovalRules
from deployments.planning.text import text
from deployments.selectors.policies import current_rules
from deployments.services.approvals import decide
from deployments.services.policies import change_rules
from tests.factories import DeploymentFactory, member
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value
from tests.views.page_parts import words
from tests.views.pages import parsed, text_of
from tests.views.test_login import PASSWORD
from tests.world import browser


def path(cluster: Cluster) -> str:
    return f"/fleet/clusters/{cluster.pk}/rules/"


def sent(**changes: Any) -> dict[str, Any]:
    """What the form sends."""
    return {
        "production": "on",
        "approvals_low": "1",
        "approvals_normal": "1",
        "approvals_high": "2",
        "open_hours": "24",
        "approved_hours": "4",
        "shown_version": "1",
        **changes,
    }


@pytest.fixture(name="request_row")
def open_request(cluster: Cluster, alice: User) -> ApprovalRequest:
    """A request of alice that needs two approvals, and why it is of high risk."""
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    request = request_for(stored(row, plan_value()))
    reason = text("It runs on {count} hosts together.", count=2)
    ApprovalRequest.objects.filter(pk=request.pk).update(
        risk="high", risk_reasons=[reason.document], approvals_needed=2
    )
    return ApprovalRequest.objects.get(pk=request.pk)


def test_strangers_see_nothing(
    client: Client, as_charlie: Client, cluster: Cluster
) -> None:
    assert client.get(path(cluster)).status_code == 302
    assert as_charlie.get(path(cluster)).status_code == 404
    assert as_charlie.post(path(cluster), sent()).status_code == 404


def test_members_read_and_only_admins_change(
    as_alice: Client, cluster: Cluster
) -> None:
    page = parsed(as_alice.get(path(cluster)))

    assert page.select("main form") == []
    assert "Approvals at high risk" in page.get_text()
    assert as_alice.post(path(cluster), sent()).status_code == 403
    assert current_rules(cluster) == ApprovalRules()


def test_an_admin_changes_and_the_version_is_listed(
    as_dora: Client, cluster: Cluster, bob: User
) -> None:
    page = parsed(as_dora.post(path(cluster), sent(), follow=True))

    assert current_rules(cluster) == ApprovalRules(
        production=True, approvals_high=2, open_hours=24, approved_hours=4
    )
    cells = [one.get_text(" ", strip=True) for one in page.select("tbody tr > *")]
    assert cells[:4] == ["2", "yes", "1, 1, 2", "24, 4"]
    assert "the team has 1" in words(page, ".silence")
    again = as_dora.post(path(cluster), sent(shown_version="2"), follow=True)
    assert "Nothing was different" in text_of(again, ".messages")


def test_two_admins_and_bad_input(as_dora: Client, cluster: Cluster) -> None:
    stale = as_dora.post(path(cluster), sent(shown_version="7"))
    wrong = as_dora.post(path(cluster), sent(approvals_high="0", open_hours="x"))

    assert (stale.status_code, wrong.status_code) == (409, 422)
    assert "Somebody changed this policy" in stale.content.decode()
    assert current_rules(cluster) == ApprovalRules()


def test_the_request_says_its_risk_and_who_is_missing(
    as_bob: Client, request_row: ApprovalRequest, bob: User
) -> None:
    address = f"/approvals/{request_row.pk}/"
    before = as_bob.get(address).content.decode()

    assert "High risk" in before
    assert "It runs on 2 hosts together." in before
    assert "0 of 2 approvals" in before
    assert 'value="approve"' not in before
    read = as_bob.post(f"{address}read/", {"digest": request_row.digest})
    assert read.headers["Location"] == f"{address}#h-diff"
    assert 'value="approve"' in as_bob.get(address).content.decode()
    decide(bob, request_row, Decision.APPROVE, shown_digest=request_row.digest)
    after = as_bob.get(address).content.decode()
    assert "1 of 2 approvals" in after
    assert "1 more approval lets this plan run." in after
    assert "You have voted" in after
    assert "Nobody in this team may decide" in after
    assert 'value="approve"' not in after


def test_the_rules_take_few_queries(
    as_dora: Client,
    cluster: Cluster,
    dora: User,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    """More versions take no more queries."""
    for number in range(1, 5):
        rules = ApprovalRules(approvals_high=number + 1)
        change_rules(dora, cluster, rules, shown_version=number)

    with django_assert_max_num_queries(12):
        as_dora.get(path(cluster))


def test_votes_take_no_queries_of_their_own(
    as_bob: Client,
    team: Team,
    request_row: ApprovalRequest,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for name in ("erin", "fred", "gina"):
        vote(request_row, member(team, name, TeamRole.APPROVER))

    with django_assert_max_num_queries(12):
        as_bob.get(f"/approvals/{request_row.pk}/")


def test_a_vote_on_production_asks_for_the_password_and_then_counts(
    cluster: Cluster, alice: User, bob: User, dora: User
) -> None:
    bob.set_password(PASSWORD)
    bob.save()
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    request = request_for(stored(row, plan_value()))
    change_rules(dora, cluster, ApprovalRules(production=True), shown_version=1)
    client, page = browser(bob), f"/approvals/{request.pk}/"
    assert "password is asked for" in text_of(client.get(page))
    ballot = {"decision": "approve", "digest": request.digest}
    asked = client.post(f"{page}decide/", ballot)
    assert asked.headers["Location"].startswith("/accounts/reauthenticate/")
    assert not request.approvals.exists()
    address = f"{page}decide/"
    wrong = client.post(
        asked.headers["Location"], {"password": "wrong", "next": address}
    )
    assert wrong.status_code == 200
    assert not request.approvals.exists()
    done = client.post(
        asked.headers["Location"], {"password": PASSWORD, "next": address}
    )
    assert done.headers["Location"] == page
    assert request.approvals.get().user == bob


def test_who_can_prove_nothing_here_is_told_what_to_do(
    cluster: Cluster, alice: User, bob: User, dora: User
) -> None:
    User.objects.filter(pk=bob.pk).update(password="!")  # noqa: S106
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    request = request_for(stored(row, plan_value()))
    change_rules(dora, cluster, ApprovalRules(production=True), shown_version=1)
    client = browser(User.objects.get(pk=bob.pk))
    ballot = {"decision": "approve", "digest": request.digest}
    refused = client.post(f"/approvals/{request.pk}/decide/", ballot)
    assert refused.status_code == 403
    assert "log out and in again" in text_of(refused)

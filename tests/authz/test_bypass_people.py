"""Ways around an approval by who somebody is, or claims to be."""

from datetime import timedelta

import pytest
from django.db.models import ProtectedError
from django.test import Client

from deployments.models import (
    ApprovalRequest,
    Decision,
    RequestState,
    RoleGrant,
    TeamRole,
    TokenScope,
    User,
)
from deployments.selectors.votes import vote_counts
from deployments.services.approvals import check_approval, decide
from deployments.services.errors import NotAllowedError, NotApprovedError
from deployments.services.members import set_roles
from deployments.services.tokens import create_token
from tests.factories import ApprovalFactory, RevisionFactory, UserFactory, member
from tests.plan_rows import request_for, vote
from tests.services.conftest import Team1, make_team1
from tests.views.test_login import PASSWORD
from tests.world import browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def team1() -> Team1:
    """Alice writes and could approve, bob approves."""
    return make_team1()


def approve(user: User, request: ApprovalRequest) -> None:
    """Approve what the page shows."""
    decide(user, request, Decision.APPROVE, shown_digest=request.digest)


def by_program(user: User) -> Client:
    """A program with the widest key that the person can make."""
    made = create_token(user, "robot", TokenScope.OPERATE, days=1)
    return Client(headers={"Authorization": f"Bearer {made.key}"})


def test_b03_a_token_of_the_author_has_no_vote(team1: Team1) -> None:
    request = team1.request()
    ballot = {"decision": "approve", "digest": request.digest, "start": "any"}
    path = f"/approvals/{request.pk}/decide/"
    assert by_program(team1.alice).post(path, ballot).status_code == 403
    assert not request.approvals.exists()


def test_b04_whoever_edited_a_revision_of_the_change_has_no_vote(team1: Team1) -> None:
    first = team1.plan("chat", 2)
    RevisionFactory.create(
        deployment=first.revision.deployment, number=1, created_by=team1.bob
    )
    with pytest.raises(NotAllowedError, match="earlier version"):
        approve(team1.bob, request_for(first))
    # Kept by hand all the same, the vote covers nothing.
    request = ApprovalRequest.objects.get()
    assert not vote_counts(vote(request, team1.bob), request)


def test_b05_the_owner_of_the_robot_that_submitted_is_its_author(team1: Team1) -> None:
    request = team1.request()
    robot = by_program(team1.alice)
    # What a program does is done by its owner: the same name stands in every row.
    assert robot.post(f"/approvals/{request.pk}/withdraw/").status_code == 302
    again = request_for(request.plan)
    assert again.submitted_by == team1.alice
    with pytest.raises(NotAllowedError, match="you wrote this plan"):
        approve(team1.alice, again)


def test_b13_an_admin_who_becomes_approver_votes_on_later_requests(
    team1: Team1,
) -> None:
    root = UserFactory.create(username="root", is_superuser=True)
    request, admin = team1.request(), member(team1.team, "dora", TeamRole.ADMIN)
    set_roles(root, admin.memberships.get(), [TeamRole.ADMIN, TeamRole.APPROVER])
    with pytest.raises(NotAllowedError, match="after this request"):
        approve(admin, request)


def test_b32_nobody_steers_the_workers_through_the_queue() -> None:
    from celery import current_app  # noqa: PLC0415 - settings are read at first use

    assert current_app.conf.worker_enable_remote_control is False
    assert current_app.conf.accept_content == ["json"]


def test_b35_a_session_that_was_planted_is_not_the_one_that_is_logged_in() -> None:
    user = UserFactory.create(username="alice")
    user.set_password(PASSWORD)
    user.save()
    client = Client()
    client.get("/accounts/login/")
    session = client.session
    session["planted"] = "yes"
    session.save()
    planted = session.session_key
    client.cookies["draftboard-session"] = planted or ""
    client.post("/accounts/login/", {"login": "alice", "password": PASSWORD})
    assert client.session.session_key != planted
    thief = Client()
    thief.cookies["draftboard-session"] = planted or ""
    assert thief.get("/settings/").status_code == 302


def test_b40_a_name_that_is_used_again_inherits_no_vote(team1: Team1) -> None:
    request = team1.approved()
    with pytest.raises(ProtectedError):
        team1.bob.delete()
    User.objects.filter(pk=team1.bob.pk).update(username="was-bob", is_active=False)
    other = member(team1.team, "bob", TeamRole.APPROVER)
    RoleGrant.objects.filter(membership__user=other).update(
        created_at=request.created_at - timedelta(days=1)
    )
    with pytest.raises(NotApprovedError, match="No approval"):
        check_approval(request)
    ballot = request.approvals.get()
    assert (ballot.user_id, ballot.user_name) == (team1.bob.pk, ballot.user_name)
    assert ApprovalRequest.objects.get().state == RequestState.APPROVED


def test_b38_a_second_request_for_the_same_plan_has_no_votes(team1: Team1) -> None:
    request = team1.approved()
    ApprovalRequest.objects.update(state=RequestState.WITHDRAWN)
    again = request_for(request.plan, RequestState.APPROVED)
    assert again.digest == request.digest
    with pytest.raises(NotApprovedError, match="No approval"):
        check_approval(again)


def test_b10_a_vote_that_is_copied_to_another_request_covers_nothing(
    team1: Team1,
) -> None:
    request = team1.approved()
    other = request_for(team1.plan("other", 1), RequestState.APPROVED)
    ApprovalFactory.create(request=other, user=team1.bob, digest=request.digest)
    assert request.digest != other.digest
    with pytest.raises(NotApprovedError, match="No approval"):
        check_approval(other)


@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
def test_b26_a_foreign_page_cannot_send_a_vote(team1: Team1, content_type: str) -> None:
    request = team1.request()
    client = Client(enforce_csrf_checks=True)
    client.force_login(team1.bob)
    body = f'{{"decision": "approve", "digest": "{request.digest}", "start": "any"}}'
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    path = f"/approvals/{request.pk}/decide/"
    answer = client.post(path, body, content_type=content_type, headers=foreign)
    assert answer.status_code == 403
    # Nor does a body that is no form say anything where it comes from a page of the panel.
    unread = browser(team1.bob).post(path, body, content_type=content_type)
    assert unread.status_code == 422
    assert not request.approvals.exists()


def test_b39_a_file_that_holds_votes_or_tokens_makes_none(team1: Team1) -> None:
    request = team1.request()
    text = (
        "name: chat\nmodel: example/model\n"
        f"approvals: [{{user: bob, digest: '{request.digest}'}}]\ntokens: [all]\n"
    )
    answer = browser(team1.alice).post("/plan/spec/", {"spec": text, "text": text})
    assert answer.status_code == 422
    assert not request.approvals.exists()
    assert not team1.bob.tokens.exists()

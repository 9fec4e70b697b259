"""Deciding on requests: who may, once, on exactly the plan that was shown."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from deployments.models import (
    Approval,
    ApprovalRequest,
    Cluster,
    Decision,
    Plan,
    RequestState,
    Revision,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.planning.errors import PlanningError
from deployments.services.approvals import (
    check_approval,
    decide,
    expire_requests,
    mark_stale,
    withdraw,
)
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from tests.factories import member
from tests.plan_rows import vote
from tests.services.conftest import Team1


def approve(user: User, request: ApprovalRequest) -> ApprovalRequest:
    """Approve what is shown."""
    return decide(user, request, Decision.APPROVE, shown_digest=request.digest)


def set_policy(cluster: Cluster, *, other_approver: bool) -> None:
    """Change the policy as the cluster's page does."""
    cluster.requires_other_approver = other_approver
    cluster.policy_version += 1
    cluster.save()


def test_another_approver_approves(team1: Team1) -> None:
    request = approve(team1.bob, team1.request())
    assert request.state == RequestState.APPROVED
    assert request.decided_at is not None
    ballot = request.approvals.get()
    assert (ballot.user, ballot.user_name, ballot.digest) == (
        team1.bob,
        "bob",
        request.digest,
    )
    check_approval(request)


def test_author_cannot_approve_where_another_person_is_asked_for(team1: Team1) -> None:
    request = team1.request()
    with pytest.raises(NotAllowedError, match="you wrote this plan yourself"):
        approve(team1.alice, request)
    request.refresh_from_db()
    assert request.state == RequestState.OPEN
    assert not request.approvals.exists()


def test_author_of_the_revision_cannot_approve_what_somebody_else_submitted(
    team1: Team1,
) -> None:
    request = team1.request()
    ApprovalRequest.objects.filter(pk=request.pk).update(submitted_by=team1.bob)
    request.refresh_from_db()
    with pytest.raises(NotAllowedError):
        approve(team1.alice, request)


def test_author_approves_where_the_policy_asks_for_nobody_else(team1: Team1) -> None:
    set_policy(team1.cluster, other_approver=False)
    request = approve(team1.alice, team1.request())
    check_approval(request)


def test_weaker_policy_does_not_reach_an_open_request(team1: Team1) -> None:
    request = team1.request()
    set_policy(team1.cluster, other_approver=False)
    request = ApprovalRequest.objects.get(pk=request.pk)
    with pytest.raises(NotAllowedError):
        approve(team1.alice, request)


def test_stricter_policy_voids_a_self_approval(team1: Team1) -> None:
    set_policy(team1.cluster, other_approver=False)
    request = approve(team1.alice, team1.request())
    set_policy(team1.cluster, other_approver=True)
    with pytest.raises(NotApprovedError):
        check_approval(ApprovalRequest.objects.get(pk=request.pk))


def test_person_of_another_team_cannot_decide(team1: Team1) -> None:
    with pytest.raises(NotAllowedError):
        approve(team1.charlie, team1.request())


@pytest.mark.parametrize(
    "role", [TeamRole.VIEWER, TeamRole.OPERATOR, TeamRole.ADMIN], ids=str
)
def test_no_other_role_implies_the_right_to_approve(
    team1: Team1, role: TeamRole
) -> None:
    person = member(team1.team, "dora", role)
    with pytest.raises(NotAllowedError):
        approve(person, team1.request())


def test_superuser_without_the_role_cannot_approve(team1: Team1) -> None:
    root = User.objects.create_superuser("root", None, "a long password 123")
    with pytest.raises(NotAllowedError):
        approve(root, team1.request())


def test_approver_made_after_submission_cannot_approve(team1: Team1) -> None:
    request = team1.request()
    late = member(team1.team, "late", TeamRole.APPROVER)
    with pytest.raises(NotAllowedError, match="after this request"):
        approve(late, request)


def test_disabled_person_cannot_approve(team1: Team1) -> None:
    team1.bob.is_active = False
    team1.bob.save()
    with pytest.raises(NotAllowedError):
        approve(team1.bob, team1.request())


def test_vote_on_another_digest_is_refused(team1: Team1) -> None:
    request = team1.request()
    with pytest.raises(ConflictError, match="changed since you opened"):
        decide(team1.bob, request, Decision.APPROVE, shown_digest="sha256:" + "1" * 64)
    assert not request.approvals.exists()


def test_double_click_is_one_vote(team1: Team1) -> None:
    request = team1.request()
    approve(team1.bob, request)
    assert approve(team1.bob, request).state == RequestState.APPROVED
    assert request.approvals.count() == 1


def test_changing_ones_mind_is_refused(team1: Team1) -> None:
    request = approve(team1.bob, team1.request())
    with pytest.raises(ConflictError):
        decide(team1.bob, request, Decision.REJECT, shown_digest=request.digest)
    request.refresh_from_db()
    assert request.state == RequestState.APPROVED
    check_approval(request)


def test_rejection_ends_the_request(team1: Team1) -> None:
    request = decide(
        team1.bob,
        (request := team1.request()),
        Decision.REJECT,
        shown_digest=request.digest,
        comment="too long a context",
    )
    assert request.state == RequestState.REJECTED
    with pytest.raises(NotApprovedError):
        check_approval(request)
    other = member(team1.team, "erin", TeamRole.APPROVER)
    RoleGrant.objects.filter(membership__user=other).update(
        created_at=request.created_at - timedelta(days=1)
    )
    with pytest.raises(ConflictError, match="no longer open"):
        approve(other, request)
    assert request.approvals.count() == 1


def test_expired_request_cannot_be_decided_before_the_sweeper_came(
    team1: Team1,
) -> None:
    request = team1.request()
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    request.refresh_from_db()
    with pytest.raises(ConflictError, match="its time ran out"):
        approve(team1.bob, request)
    assert not request.approvals.exists()


def test_sweeper_ends_open_and_approved_requests_only(team1: Team1) -> None:
    open_one, approved = team1.request("a"), team1.approved("b")
    released = team1.approved("c")
    ApprovalRequest.objects.filter(pk=released.pk).update(state=RequestState.RELEASED)
    assert expire_requests() == 0
    ApprovalRequest.objects.update(expires_at=timezone.now())
    assert expire_requests() == 2
    states = dict(ApprovalRequest.objects.values_list("pk", "state"))
    assert states == {
        open_one.pk: RequestState.EXPIRED,
        approved.pk: RequestState.EXPIRED,
        released.pk: RequestState.RELEASED,
    }


def test_approval_that_ran_out_covers_nothing(team1: Team1) -> None:
    request = team1.approved()
    request.expires_at = timezone.now() - timedelta(seconds=1)
    with pytest.raises(NotApprovedError, match="ran out"):
        check_approval(request)


def test_approval_ends_with_the_right_of_the_approver(team1: Team1) -> None:
    request = team1.approved()
    RoleGrant.objects.filter(membership__user=team1.bob).delete()
    with pytest.raises(NotApprovedError, match="No approval of this plan holds"):
        check_approval(request)


def test_vote_for_another_digest_covers_nothing(team1: Team1) -> None:
    request = team1.request()
    Approval.objects.create(
        request=request,
        user=team1.bob,
        user_name="bob",
        decision=Decision.APPROVE,
        digest="sha256:" + "2" * 64,
    )
    request.state = RequestState.APPROVED
    with pytest.raises(NotApprovedError):
        check_approval(request)


def test_request_for_another_digest_than_its_plan_covers_nothing(team1: Team1) -> None:
    request = team1.approved()
    request.digest = "sha256:" + "3" * 64
    with pytest.raises(NotApprovedError, match="not the one that was approved"):
        check_approval(request)


def test_plan_document_that_was_edited_covers_nothing(team1: Team1) -> None:
    request = team1.approved()
    request.plan.document = request.plan.document.replace(
        "max-num-seqs", "max-num-se1s"
    )
    with pytest.raises(PlanningError, match="does not match its digest"):
        check_approval(request)


@pytest.mark.parametrize("state", [RequestState.OPEN, RequestState.APPROVED], ids=str)
def test_operator_withdraws(team1: Team1, state: RequestState) -> None:
    request = team1.request() if state == RequestState.OPEN else team1.approved()
    withdraw(team1.alice, request)
    request.refresh_from_db()
    assert request.state == RequestState.WITHDRAWN
    with pytest.raises(ConflictError):
        withdraw(team1.alice, request)


def test_only_operators_of_the_team_withdraw(team1: Team1) -> None:
    request = team1.request()
    for person in (team1.bob, team1.charlie):
        with pytest.raises(NotAllowedError):
            withdraw(person, request)


def test_stale_request_covers_nothing(team1: Team1) -> None:
    request = team1.approved()
    mark_stale(request.pk)
    request.refresh_from_db()
    assert request.state == RequestState.STALE
    with pytest.raises(NotApprovedError):
        check_approval(request)


def test_open_request_is_not_made_stale(team1: Team1) -> None:
    request = team1.request()
    mark_stale(request.pk)
    request.refresh_from_db()
    assert request.state == RequestState.OPEN


@pytest.mark.parametrize(
    ("model", "column"),
    [(Revision, "document"), (Plan, "document"), (Approval, "comment")],
    ids=["revision", "plan", "approval"],
)
def test_database_refuses_to_change_what_was_decided_on(
    team1: Team1, model: type[Revision | Plan | Approval], column: str
) -> None:
    vote(team1.request(), team1.bob)
    table = model._meta.db_table
    with (
        pytest.raises(IntegrityError, match="frozen"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE {table} SET {column} = {column}")  # noqa: S608

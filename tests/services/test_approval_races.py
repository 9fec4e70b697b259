"""Decisions on two connections at the same instant."""

import pytest

from deployments.models import ApprovalRequest, Decision, RequestState, TeamRole
from deployments.services.approvals import decide, expire_requests, withdraw
from deployments.services.errors import ConflictError
from tests.factories import member
from tests.services.conftest import Team1
from tests.services.connections import at_once


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    """The row as another connection reads it."""
    return ApprovalRequest.objects.get(pk=request.pk)


@pytest.mark.parametrize("attempt", range(3))
def test_approve_and_reject_at_once_leave_one_vote(
    committed_team1: Team1, attempt: int
) -> None:
    team1 = committed_team1
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    request = team1.request()
    outcomes = at_once(
        lambda: decide(
            team1.bob,
            fresh(request),
            Decision.APPROVE,
            shown_digest=request.digest,
        ),
        lambda: decide(
            dora, fresh(request), Decision.REJECT, shown_digest=request.digest
        ),
    )
    refused = [one for one in outcomes if isinstance(one, Exception)]
    assert [type(one) for one in refused] == [ConflictError]
    ballot = request.approvals.get()
    wanted = {
        Decision.APPROVE: RequestState.APPROVED,
        Decision.REJECT: RequestState.REJECTED,
    }
    assert fresh(request).state == wanted[Decision(ballot.decision)]


@pytest.mark.parametrize("attempt", range(3))
def test_double_click_at_once_is_one_vote(committed_team1: Team1, attempt: int) -> None:
    team1 = committed_team1
    request = team1.request()

    def click() -> str:
        return decide(
            team1.bob, fresh(request), Decision.APPROVE, shown_digest=request.digest
        ).state

    assert at_once(click, click) == [RequestState.APPROVED, RequestState.APPROVED]
    assert request.approvals.count() == 1


def test_withdrawal_and_approval_at_once_end_in_one_state(
    committed_team1: Team1,
) -> None:
    team1 = committed_team1
    request = team1.request()
    at_once(
        lambda: withdraw(team1.alice, fresh(request)),
        lambda: decide(
            team1.bob, fresh(request), Decision.APPROVE, shown_digest=request.digest
        ),
    )
    # Withdrawn either before the vote or after it: both leave nothing that may run.
    assert fresh(request).state == RequestState.WITHDRAWN


def test_two_sweepers_count_each_request_once(committed_team1: Team1) -> None:
    for name in ("a", "b", "c"):
        request = committed_team1.request(name)
        request.expires_at = request.created_at
        request.save(update_fields=["expires_at"])
    counts = at_once(expire_requests, expire_requests)
    assert sum(count for count in counts if isinstance(count, int)) == 3

"""Races on two connections, round after round: whoever is first, one outcome.

``RACE_ROUNDS`` says how many rounds; ``make slow`` takes 500 of each on PostgreSQL.
"""

import os
import time
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Booking,
    Decision,
    Release,
    RequestState,
    TeamRole,
    User,
)
from deployments.services.approvals import check_approval, decide, expire_requests
from deployments.services.errors import ConflictError, NotApprovedError
from deployments.services.plans import submit_plan
from deployments.services.releases import start_release
from tests.factories import member
from tests.plan_rows import vote
from tests.services.conftest import Team1
from tests.services.connections import at_once
from tests.services.test_plans import Wish, make_wish

ROUNDS = int(os.environ.get("RACE_ROUNDS", "2"))
JITTER_MS = 40
"""Approvals end within so long of the start of a round."""


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    """The row as another connection reads it."""
    return ApprovalRequest.objects.get(pk=request.pk)


def approve(user: User, request: ApprovalRequest) -> RequestState:
    """Approve what the page showed."""
    row = decide(user, fresh(request), Decision.APPROVE, shown_digest=request.digest)
    return RequestState(row.state)


def test_two_approvals_are_one_transition(committed_team1: Team1) -> None:
    team1 = committed_team1
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    for number in range(1, ROUNDS + 1):
        request = team1.request("chat", number)
        ApprovalRequest.objects.filter(pk=request.pk).update(approvals_needed=2)
        first, second = at_once(
            partial(approve, team1.bob, request), partial(approve, dora, request)
        )
        assert RequestState.APPROVED in {first, second}, (first, second)
        assert request.approvals.count() == 2
        row = fresh(request)
        assert row.state == RequestState.APPROVED
        check_approval(row)
        ApprovalRequest.objects.filter(pk=request.pk).update(
            state=RequestState.WITHDRAWN
        )


def test_an_approval_never_covers_what_an_edit_replaced(
    committed_team1: Team1,
) -> None:
    team1 = committed_team1
    wish: Wish = make_wish(team1)
    request = submit_plan(
        team1.alice, wish.inputs, wish.spec, shown_digest=wish.digest()
    )
    for _round in range(ROUNDS):
        shown, old = wish.digest(), request
        submit = partial(submit_plan, team1.alice, wish.inputs, wish.spec)
        approval, edit = at_once(
            partial(approve, team1.bob, old), partial(submit, shown_digest=shown)
        )
        assert isinstance(edit, ApprovalRequest), edit
        # Approved before it was replaced or refused after: the old one covers nothing now.
        assert approval == RequestState.APPROVED or isinstance(
            approval, ConflictError | RequestState
        ), approval
        assert fresh(old).state == RequestState.SUPERSEDED
        with pytest.raises(NotApprovedError):
            check_approval(fresh(old))
        assert not edit.approvals.exists()
        assert edit.state == RequestState.OPEN
        request = edit


def test_a_start_and_the_expiry_have_one_winner(committed_team1: Team1) -> None:
    team1 = committed_team1
    for number in range(1, ROUNDS + 1):
        request = team1.request(f"chat-{number}")
        soon = timedelta(milliseconds=number % JITTER_MS)
        ApprovalRequest.objects.filter(pk=request.pk).update(
            state=RequestState.APPROVED,
            decided_at=timezone.now(),
            expires_at=timezone.now() + soon,
        )
        vote(request, team1.bob)
        start, _swept = at_once(
            partial(start_release, team1.alice, fresh(request), f"key-{number}"),
            expire_requests,
        )
        time.sleep(soon.total_seconds())
        expire_requests()
        started = Release.objects.filter(request=request)
        if isinstance(start, Release):
            assert fresh(request).state == RequestState.RELEASED
            assert list(started) == [start]
        else:
            assert isinstance(start, NotApprovedError | ConflictError), start
            assert not started.exists()
            assert fresh(request).state == RequestState.EXPIRED
        Booking.objects.update(released_at=timezone.now())

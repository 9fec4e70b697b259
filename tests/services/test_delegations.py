"""Deciding for somebody absent: once, by somebody else than the authors, and until a day."""

from datetime import datetime, timedelta

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    Decision,
    DelegatedVote,
    Delegation,
    RequestState,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.selectors.deciders import counting
from deployments.selectors.votes import (
    Obstacle,
    decides_for,
    obstacle,
    possible_approvers,
)
from deployments.selectors.waiting import decidable_requests
from deployments.services.approvals import check_approval, decide
from deployments.services.delegations import delegate_votes, end_delegation
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from tests.delegation_rows import DelegationFactory
from tests.factories import member
from tests.services.conftest import Team1

pytestmark = pytest.mark.django_db


def week() -> datetime:
    """In a week."""
    return timezone.now() + timedelta(days=7)


@pytest.fixture
def vera(team1: Team1) -> User:
    """A member without a right to approve."""
    return member(team1.team, "vera", TeamRole.VIEWER)


def approve(user: User, request: ApprovalRequest) -> ApprovalRequest:
    """Approve what is shown."""
    return decide(user, request, Decision.APPROVE, shown_digest=request.digest)


def may(user: User, request: ApprovalRequest) -> bool:
    """Whether the person may decide, which every way of asking says alike."""
    found = {
        obstacle(user, request) is None,
        user in possible_approvers(request),
        request in decidable_requests(user),
    }
    assert len(found) == 1, (user, found)
    return found.pop()


def test_a_delegate_decides_and_the_vote_says_for_whom(
    team1: Team1, vera: User
) -> None:
    request = team1.request()
    assert not may(vera, request)
    delegate_votes(team1.bob, team1.team, vera, week())
    assert may(vera, request)
    assert decides_for(vera, request) == team1.bob
    assert approve(vera, request).state == RequestState.APPROVED
    given = DelegatedVote.objects.get()
    assert (given.vote.user, given.approver, given.approver_name) == (
        vera,
        team1.bob,
        "bob",
    )
    check_approval(request)
    entry = AuditEntry.objects.get(action=AuditAction.REQUEST_APPROVED)
    assert (entry.actor, entry.after["for"]) == (vera, "bob")
    assert approve(vera, request).state == RequestState.APPROVED


def test_the_absent_and_the_delegate_count_once(team1: Team1, vera: User) -> None:
    request = team1.request()
    ApprovalRequest.objects.update(approvals_needed=2)
    request.refresh_from_db()
    delegate_votes(team1.bob, team1.team, vera, week())
    approve(vera, request)
    assert len(counting(request)) == 1
    assert obstacle(team1.bob, request) is Obstacle.VOTED_FOR
    assert team1.bob not in possible_approvers(request)
    assert request not in decidable_requests(team1.bob)
    with pytest.raises(NotAllowedError, match="for you in your absence"):
        approve(team1.bob, request)
    other = team1.request(number=2)
    approve(team1.bob, other)
    assert not may(vera, other)


def test_four_eyes_hold_through_an_absence(team1: Team1, vera: User) -> None:
    request = team1.request()
    delegate_votes(team1.alice, team1.team, vera, week())
    assert not may(vera, request)
    author = member(team1.team, "author", TeamRole.OPERATOR)
    ApprovalRequest.objects.update(submitted_by=author)
    delegate_votes(team1.bob, team1.team, author, week())
    request.refresh_from_db()
    assert not may(author, request)
    friend = member(team1.team, "friend")
    User.objects.filter(pk=friend.pk).update(invited_by=author)
    Delegation.objects.filter(approver=team1.bob).update(delegate=friend)
    friend.refresh_from_db()
    assert not may(friend, request)


def test_it_ends_by_itself_and_votes_stay(team1: Team1, vera: User) -> None:
    request, later = team1.request(), team1.request("talk")
    row = delegate_votes(team1.bob, team1.team, vera, week())
    approve(vera, request)
    Delegation.objects.update(ends_at=timezone.now())
    assert not may(vera, later)
    check_approval(request)
    with pytest.raises(ConflictError):
        end_delegation(team1.bob, row)
    delegate_votes(team1.bob, team1.team, vera, week())
    assert may(vera, later)
    RoleGrant.objects.filter(membership__user=team1.bob).delete()
    assert not may(vera, later)
    with pytest.raises(NotApprovedError):
        check_approval(request)


def test_somebody_who_left_the_team_decides_for_nobody(
    team1: Team1, vera: User
) -> None:
    request = team1.request()
    delegate_votes(team1.bob, team1.team, vera, week())
    approve(vera, request)
    vera.memberships.all().delete()
    assert not may(vera, team1.request("talk"))
    with pytest.raises(NotApprovedError):
        check_approval(request)


def test_neither_oneself_nor_a_stranger_nor_a_circle(team1: Team1, vera: User) -> None:
    for delegate in (team1.bob, team1.charlie):
        with pytest.raises(ConflictError):
            delegate_votes(team1.bob, team1.team, delegate, week())
    with pytest.raises(NotAllowedError):
        delegate_votes(vera, team1.team, team1.bob, week())
    for ends_at in (timezone.now(), timezone.now() + timedelta(days=91)):
        with pytest.raises(ConflictError):
            delegate_votes(team1.bob, team1.team, vera, ends_at)
    delegate_votes(team1.bob, team1.team, team1.alice, week())
    with pytest.raises(ConflictError, match="absent, too"):
        delegate_votes(team1.alice, team1.team, team1.bob, week())
    with pytest.raises(ConflictError, match="absent in this team already"):
        delegate_votes(team1.bob, team1.team, vera, week())
    with pytest.raises(IntegrityError), transaction.atomic():
        DelegationFactory.create(approver=vera, delegate=vera)


def test_only_the_absent_and_admins_end_it(team1: Team1, vera: User) -> None:
    row = delegate_votes(team1.bob, team1.team, vera, week())
    with pytest.raises(NotAllowedError):
        end_delegation(vera, row)
    end_delegation(member(team1.team, "ada", TeamRole.ADMIN), row)
    assert AuditEntry.objects.filter(action=AuditAction.DELEGATION_ENDED).exists()
    assert not may(vera, team1.request())


def test_for_whom_a_vote_was_is_never_changed(team1: Team1, vera: User) -> None:
    delegate_votes(team1.bob, team1.team, vera, week())
    approve(vera, team1.request())
    for act in (
        lambda: DelegatedVote.objects.update(approver_name="x"),
        lambda: DelegatedVote.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            act()

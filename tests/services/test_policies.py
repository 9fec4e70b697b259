"""Approval rules: versions, several approvals, expiry, and what the executor proves."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Decision,
    PolicyVersion,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules
from deployments.selectors.policies import (
    current_rules,
    policy_versions,
    unmet_rules,
)
from deployments.selectors.waiting import decidable_requests
from deployments.services.approvals import check_approval, decide
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
    ProofNeededError,
)
from deployments.services.policies import change_rules
from deployments.services.releases import start_release
from tests.factories import member
from tests.services.conftest import Team1
from tests.services.connections import at_once

TWO = ApprovalRules(approvals_low=1, approvals_normal=2, approvals_high=2)


def admin_of(team1: Team1) -> User:
    return member(team1.team, "erin", TeamRole.ADMIN)


def needing(team1: Team1, number: int = 2) -> ApprovalRequest:
    """An open request that needs so many approvals."""
    request = team1.request()
    ApprovalRequest.objects.filter(pk=request.pk).update(approvals_needed=number)
    return fresh(request)


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    return ApprovalRequest.objects.get(pk=request.pk)


def approve(user: User, request: ApprovalRequest) -> ApprovalRequest:
    return decide(user, request, Decision.APPROVE, shown_digest=request.digest)


@pytest.mark.django_db
def test_every_version_is_kept_and_frozen(team1: Team1) -> None:
    admin = admin_of(team1)

    assert change_rules(admin, team1.cluster, TWO, shown_version=1)
    assert not change_rules(admin, team1.cluster, TWO, shown_version=2)
    later = ApprovalRules(production=True)
    assert change_rules(admin, team1.cluster, later, shown_version=2)

    kept = policy_versions(team1.cluster).values_list("number", flat=True)
    assert list(kept) == [3, 2]
    assert current_rules(team1.cluster) == later
    with pytest.raises(DatabaseError, match="frozen"), transaction.atomic():
        PolicyVersion.objects.update(number=9)


@pytest.mark.django_db
def test_only_an_admin_changes_and_nobody_overwrites(team1: Team1) -> None:
    with pytest.raises(NotAllowedError):
        change_rules(team1.alice, team1.cluster, TWO, shown_version=1)
    with pytest.raises(ConflictError, match="Somebody changed"):
        change_rules(admin_of(team1), team1.cluster, TWO, shown_version=7)
    assert current_rules(team1.cluster) == ApprovalRules()


@pytest.mark.django_db
def test_a_rule_that_nobody_can_meet_is_said(team1: Team1) -> None:
    cluster = team1.cluster

    assert unmet_rules(cluster, ApprovalRules()) == []
    assert "alice" in unmet_rules(cluster, TWO)[0]
    many = ApprovalRules(approvals_high=5)
    assert "5 approvals, and the team has 2" in unmet_rules(cluster, many)[0]
    member(team1.team, "dora", TeamRole.APPROVER)
    assert unmet_rules(cluster, TWO) == []


@pytest.mark.django_db
def test_two_approvals_by_two_people_and_not_one_twice(team1: Team1) -> None:
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    request = needing(team1)

    assert approve(team1.bob, request).state == RequestState.OPEN
    assert approve(team1.bob, request).state == RequestState.OPEN
    assert not decidable_requests(team1.bob).exists()
    assert decidable_requests(dora).exists()
    assert approve(dora, fresh(request)).state == RequestState.APPROVED
    check_approval(fresh(request))


@pytest.mark.django_db
def test_one_rejection_ends_it_whatever_was_approved(team1: Team1) -> None:
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    request = needing(team1)
    approve(team1.bob, request)

    with pytest.raises(ConflictError, match="already decided"):
        decide(team1.bob, request, Decision.REJECT, shown_digest=request.digest)
    ended = decide(dora, request, Decision.REJECT, shown_digest=request.digest)
    assert ended.state == RequestState.REJECTED


@pytest.mark.django_db
def test_a_lost_role_or_a_stricter_rule_voids_an_approval(team1: Team1) -> None:
    admin = admin_of(team1)
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    request = needing(team1)
    approve(team1.bob, request)
    approve(dora, fresh(request))
    check_approval(fresh(request))

    change_rules(
        admin,
        team1.cluster,
        ApprovalRules(approvals_normal=3),
        shown_version=1,
    )
    with pytest.raises(NotApprovedError, match="Of the 3 approvals"):
        start_release(team1.alice, fresh(request), "k1")
    assert fresh(request).state == RequestState.APPROVED
    change_rules(admin, team1.cluster, ApprovalRules(), shown_version=2)
    check_approval(fresh(request))
    dora.memberships.all().delete()
    with pytest.raises(NotApprovedError, match="Of the 2 approvals"):
        check_approval(fresh(request))


@pytest.mark.django_db
def test_an_approval_lasts_as_long_as_the_rules_say(team1: Team1) -> None:
    request = team1.request()
    ApprovalRequest.objects.filter(pk=request.pk).update(approved_hours=2)

    approved = approve(team1.bob, fresh(request))

    lasts = approved.expires_at - timezone.now()
    assert timedelta(hours=1, minutes=59) < lasts <= timedelta(hours=2)


@pytest.mark.parametrize("attempt", range(3))
def test_the_last_two_approvals_at_once_approve(
    committed_team1: Team1, attempt: int
) -> None:
    team1 = committed_team1
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    request = needing(team1)

    at_once(
        lambda: approve(team1.bob, fresh(request)),
        lambda: approve(dora, fresh(request)),
    )

    assert fresh(request).state == RequestState.APPROVED
    assert request.approvals.count() == 2


@pytest.mark.parametrize("attempt", range(3))
def test_approval_and_rejection_at_once_never_leave_it_open_or_approved(
    committed_team1: Team1, attempt: int
) -> None:
    team1 = committed_team1
    dora = member(team1.team, "dora", TeamRole.APPROVER)
    request = needing(team1)

    at_once(
        lambda: approve(team1.bob, fresh(request)),
        lambda: decide(
            dora, fresh(request), Decision.REJECT, shown_digest=request.digest
        ),
    )

    assert fresh(request).state == RequestState.REJECTED


def test_deploying_and_stricter_rules_at_once_leave_one_outcome(
    committed_team1: Team1,
) -> None:
    team1 = committed_team1
    request = team1.approved()
    admin = admin_of(team1)
    strict = ApprovalRules(approvals_normal=3)

    outcomes = at_once(
        lambda: start_release(team1.alice, fresh(request), "k1").number == 1,
        lambda: change_rules(admin, team1.cluster, strict, shown_version=1),
    )

    begun = outcomes[0] is True
    state = fresh(request).state
    assert state == (RequestState.RELEASED if begun else RequestState.APPROVED)
    # What began before the stricter rule is stopped by the executor, which asks again.
    with pytest.raises(NotApprovedError, match="Of the 3 approvals"):
        check_approval(fresh(request))


@pytest.mark.django_db
@pytest.mark.parametrize("minutes", [None, 6, -1])
def test_where_production_is_served_a_vote_needs_a_fresh_proof(
    team1: Team1, minutes: int | None
) -> None:
    admin, request = admin_of(team1), team1.request()
    production = ApprovalRules(production=True)
    assert change_rules(admin, team1.cluster, production, shown_version=1)
    now = timezone.now()
    proved = None if minutes is None else now - timedelta(minutes=minutes)
    ballot = {"shown_digest": request.digest}
    with pytest.raises(ProofNeededError, match="five minutes"):
        decide(team1.bob, request, Decision.APPROVE, **ballot, proved_at=proved)
    assert not request.approvals.exists()
    decide(team1.bob, request, Decision.APPROVE, **ballot, proved_at=now)
    assert fresh(request).state == RequestState.APPROVED


@pytest.mark.django_db
def test_a_loosened_rule_asks_no_less_of_an_open_request(team1: Team1) -> None:
    admin = admin_of(team1)
    switch = ApprovalRules(proof_before_vote=True)
    change_rules(admin, team1.cluster, switch, shown_version=1)
    request = team1.request()
    ApprovalRequest.objects.filter(pk=request.pk).update(policy_version=2)
    change_rules(admin, team1.cluster, ApprovalRules(), shown_version=2)
    with pytest.raises(ProofNeededError):
        approve(team1.bob, fresh(request))
    approve(team1.bob, fresh(team1.request("other")))

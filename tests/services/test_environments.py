"""One cluster asks for other approvals by the environment of a deployment."""

import pytest

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    Deployment,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules, Environment, WhoRule
from deployments.selectors.approvals import request_page
from deployments.selectors.policies import current_rules, unmet_rules
from deployments.selectors.votes import approvals_needed, asks_proof
from deployments.services.approvals import check_approval
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from deployments.services.policies import change_environment, change_rules
from tests.factories import member
from tests.services.conftest import Team1

pytestmark = pytest.mark.django_db

PRODUCTION = ApprovalRules(
    approvals_low=2, approvals_normal=2, approvals_high=2, production=True
)
STAGING = ApprovalRules()
BOTH = (
    ApprovalRules(approvals_low=3, approvals_normal=3, approvals_high=3)
    .with_own(Environment.STAGING, STAGING)
    .with_own(Environment.PRODUCTION, PRODUCTION)
)


@pytest.fixture
def admin(team1: Team1) -> User:
    """An admin of the team, under whose rules the environments differ."""
    dora = member(team1.team, "dora", TeamRole.ADMIN, TeamRole.APPROVER)
    change_rules(dora, team1.cluster, BOTH, shown_version=1)
    team1.cluster.refresh_from_db()
    return dora


def placed(admin: User, request: ApprovalRequest, environment: str) -> ApprovalRequest:
    """The same request, whose deployment is of that environment from now on."""
    change_environment(admin, request.plan.revision.deployment, environment)
    return ApprovalRequest.objects.get(pk=request.pk)


def made_in(request: ApprovalRequest, environment: str) -> ApprovalRequest:
    """As if the request had been made there: one approval, and rules of that environment."""
    ApprovalRequest.objects.filter(pk=request.pk).update(environment=environment)
    return ApprovalRequest.objects.get(pk=request.pk)


@pytest.mark.parametrize(
    ("environment", "needed", "proof"),
    [("production", 2, True), ("staging", 1, False), ("development", 3, False)],
)
def test_each_environment_has_its_own_rules_and_the_others_those_of_the_cluster(
    team1: Team1, admin: User, environment: str, needed: int, *, proof: bool
) -> None:
    request = placed(admin, made_in(team1.request(), environment), environment)

    assert (approvals_needed(request), asks_proof(request)) == (needed, proof)
    assert request_page(admin, request).needed == needed


def test_moved_to_production_an_approved_request_lacks_a_vote(
    team1: Team1, admin: User
) -> None:
    request = team1.approved()
    request = placed(admin, made_in(request, "staging"), "staging")
    check_approval(request)

    request = placed(admin, request, "production")

    with pytest.raises(NotApprovedError, match="Of the 2 approvals"):
        check_approval(request)
    assert request_page(admin, request).moved


def test_moved_to_staging_an_open_request_keeps_what_it_was_made_under(
    team1: Team1, admin: User
) -> None:
    named = BOTH.with_own(
        Environment.PRODUCTION, ApprovalRules(who=(WhoRule(people=("dora",)),))
    )
    change_rules(admin, team1.cluster, named, shown_version=2)
    request = made_in(team1.request(), "production")
    ApprovalRequest.objects.filter(pk=request.pk).update(policy_version=3)
    request = placed(admin, request, "staging")

    assert asks_proof(request)
    assert "dora" in request_page(team1.bob, request).sentence
    assert request.state == RequestState.OPEN


def test_only_admins_of_the_owning_team_say_the_environment(
    team1: Team1, admin: User
) -> None:
    deployment: Deployment = team1.request().plan.revision.deployment

    with pytest.raises(NotAllowedError):
        change_environment(team1.alice, deployment, "staging")
    with pytest.raises(ConflictError, match="no such environment"):
        change_environment(admin, deployment, "moon")
    assert change_environment(admin, deployment, "staging")
    assert not change_environment(admin, deployment, "staging")
    told = AuditEntry.objects.get(action=AuditAction.ENVIRONMENT_CHANGED)
    assert (told.before, told.after) == (
        {"environment": ""},
        {"environment": "staging"},
    )


def test_rules_that_nobody_can_meet_are_told_under_their_environment(
    team1: Team1, admin: User
) -> None:
    many = current_rules(team1.cluster).with_own(
        Environment.STAGING, ApprovalRules(approvals_high=9)
    )

    found = unmet_rules(team1.cluster, many)

    assert any(one.startswith("Staging: ") and "9 approvals" in one for one in found)

"""Rules that say who approves, beside how many: people, roles, and for guests the hosts' owners."""

import pytest

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Decision,
    PolicyVersion,
    RequestState,
    RiskClass,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules, Risk, WhoRule
from deployments.selectors.approvals import request_page
from deployments.selectors.policies import current_rules, unmet_rules
from deployments.services.approvals import check_approval, decide
from deployments.services.errors import NotApprovedError
from deployments.services.policies import change_rules
from tests.factories import member
from tests.services.conftest import Team1
from tests.team_rows import ClusterShareFactory, shown_changes
from tests.world import browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(team1: Team1) -> User:
    """An admin of the team who approves, too."""
    return member(team1.team, "dora", TeamRole.ADMIN, TeamRole.APPROVER)


def asking(admin: User, cluster: Cluster, *who: WhoRule) -> None:
    """Ask for approvals of these people from now on."""
    cluster.refresh_from_db()
    shown = cluster.policy_version
    change_rules(admin, cluster, ApprovalRules(who=who), shown_version=shown)
    cluster.refresh_from_db()


def approve(user: User, request: ApprovalRequest) -> str:
    """Approve what the page shows; returns the state after it."""
    request = ApprovalRequest.objects.get(pk=request.pk)
    shown_changes(user, request)
    return decide(user, request, Decision.APPROVE, shown_digest=request.digest).state


@pytest.mark.parametrize(
    "rule", [WhoRule(people=("dora",)), WhoRule(roles=("admin",))], ids=["name", "role"]
)
def test_others_do_not_suffice_without_whom_a_rule_names(
    team1: Team1, admin: User, rule: WhoRule
) -> None:
    asking(admin, team1.cluster, rule)
    request = team1.request()
    assert approve(team1.bob, request) == RequestState.OPEN
    assert "still needed" in request_page(admin, request).sentence
    assert approve(admin, request) == RequestState.APPROVED
    check_approval(ApprovalRequest.objects.get(pk=request.pk))


def test_a_rule_holds_for_its_class_of_risk(team1: Team1, admin: User) -> None:
    asking(admin, team1.cluster, WhoRule(risk=Risk.HIGH, people=("dora",)))
    assert approve(team1.bob, team1.request()) == RequestState.APPROVED
    high = team1.request("talk")
    ApprovalRequest.objects.filter(pk=high.pk).update(risk=RiskClass.HIGH)
    assert approve(team1.bob, high) == RequestState.OPEN


def test_a_rule_that_came_later_holds_and_one_that_went_holds_too(
    team1: Team1, admin: User
) -> None:
    request = team1.approved()
    asking(admin, team1.cluster, WhoRule(people=("dora",)))
    request = ApprovalRequest.objects.get(pk=request.pk)
    with pytest.raises(NotApprovedError, match="dora"):
        check_approval(request)
    later = team1.request("talk")
    ApprovalRequest.objects.filter(pk=later.pk).update(
        policy_version=team1.cluster.policy_version
    )
    asking(admin, team1.cluster)
    assert approve(team1.bob, later) == RequestState.OPEN


def test_whoever_lost_the_role_meets_no_rule(team1: Team1, admin: User) -> None:
    asking(admin, team1.cluster, WhoRule(roles=("admin",)))
    request = team1.request()
    assert approve(admin, request) == RequestState.APPROVED
    RoleGrant.objects.filter(membership__user=admin, role=TeamRole.ADMIN).delete()
    with pytest.raises(NotApprovedError, match="must approve"):
        check_approval(ApprovalRequest.objects.get(pk=request.pk))


@pytest.mark.parametrize("alone", [False, True])
def test_a_guest_needs_an_approver_of_the_owners_unless_they_say_otherwise(
    team1: Team1, admin: User, *, alone: bool
) -> None:
    guests: Team = team1.charlie.memberships.get().team
    erin = member(guests, "erin", TeamRole.APPROVER)
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    if alone:
        rules = ApprovalRules(guests_decide=True)
        change_rules(admin, team1.cluster, rules, shown_version=1)
    request = team1.request()
    deployment = request.plan.revision.deployment
    deployment.team = guests
    deployment.save()
    ApprovalRequest.objects.filter(pk=request.pk).update(
        policy_version=Cluster.objects.get().policy_version
    )
    wanted = RequestState.APPROVED if alone else RequestState.OPEN
    assert approve(erin, request) == wanted
    if not alone:
        assert approve(team1.bob, request) == RequestState.APPROVED


def test_a_rule_that_nobody_can_meet_is_flagged_when_it_is_saved(
    team1: Team1, admin: User
) -> None:
    path = f"/fleet/clusters/{team1.cluster.pk}/rules/"
    client = browser(admin)
    form = {
        **{f"approvals_{risk}": 1 for risk in Risk},
        "open_hours": 24,
        "approved_hours": 24,
        "shown_version": 1,
    }
    wrong = client.post(path, {**form, "who": "high: 1 of @king"})
    assert wrong.status_code == 422
    assert "no such rule" in wrong.content.decode()
    said = client.post(
        path, {**form, "who": "high: 2 of dora, charlie\nany: 1 of @admin"}, follow=True
    ).content.decode()
    assert "high: 2 of dora, charlie” cannot be met: 1 of them" in said
    rules = current_rules(Cluster.objects.get())
    assert rules.who == (
        WhoRule(risk=Risk.HIGH, count=2, people=("dora", "charlie")),
        WhoRule(roles=("admin",)),
    )
    assert len(unmet_rules(team1.cluster, rules)) == 1
    assert PolicyVersion.objects.get().rules["who"][0]["count"] == 2

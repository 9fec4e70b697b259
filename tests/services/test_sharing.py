"""Clusters that other teams see or deploy on: what guests get, and what ends with the sharing."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from deployments.docker_api.containers import ListedContainer
from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    ClusterShare,
    Decision,
    Deployment,
    DeviceQuota,
    Release,
    ReleaseState,
    RequestState,
    RoleGrant,
    ShareAccess,
    Team,
    TeamRole,
    User,
)
from deployments.planning.errors import PlanningError
from deployments.selectors.approvals import request_page
from deployments.selectors.waiting import teams_with_waiting
from deployments.selectors.wizard import wizard_choices
from deployments.services.approvals import decide
from deployments.services.break_glass import break_glass, check_use
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from deployments.services.plans import plan_on_cluster, submit_plan
from deployments.services.quotas import QuotaExceededError
from deployments.services.releases import start_release
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.permission import prove_start
from deployments.services.rollout.preflight import container_name
from deployments.services.sharing import end_share, share_cluster
from tests.factories import (
    BookingFactory,
    DeploymentFactory,
    HostFactory,
    MembershipFactory,
    ReplicaFactory,
    RoleGrantFactory,
    member,
)
from tests.services.conftest import Team1
from tests.services.test_plans import Wish, make_wish
from tests.team_rows import ClusterShareFactory, shown_changes
from tests.world import browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(team1: Team1) -> User:
    """The admin of the team that owns the cluster."""
    return member(team1.team, "root", TeamRole.ADMIN)


@pytest.fixture
def guests(team1: Team1) -> Team:
    """The team of charlie, who operates and approves in it."""
    return team1.charlie.memberships.get().team


def wish_of(team1: Team1, guests: Team) -> Wish:
    """What charlie wants to serve on the cluster of the other team."""
    wish = make_wish(team1)
    return replace(wish, inputs=replace(wish.inputs, team=guests))


def submitted(team1: Team1, guests: Team) -> ApprovalRequest:
    """A request of charlie on the cluster of the other team."""
    wish = wish_of(team1, guests)
    return submit_plan(
        team1.charlie, wish.inputs, wish.spec, shown_digest=wish.digest()
    )


def approve(user: User, request: ApprovalRequest) -> None:
    """Approve what the page shows."""
    request.refresh_from_db()
    shown_changes(user, request)
    decide(user, request, Decision.APPROVE, shown_digest=request.digest)


def test_an_admin_shares_and_takes_it_back_and_both_are_kept(
    team1: Team1, admin: User, guests: Team
) -> None:
    assert share_cluster(admin, team1.cluster, guests, ShareAccess.DEPLOY, devices=4)
    assert not share_cluster(
        admin, team1.cluster, guests, ShareAccess.DEPLOY, devices=4
    )
    assert DeviceQuota.objects.get(team=guests).devices == 4
    share = ClusterShare.objects.get()
    end_share(admin, share)
    assert not DeviceQuota.objects.exists()
    with pytest.raises(ConflictError, match="already"):
        end_share(admin, share)
    shared, ended = (
        AuditEntry.objects.get(action=action)
        for action in (AuditAction.SHARED, AuditAction.UNSHARED)
    )
    assert shared.after == {"access": "deploy", "team": guests.name}
    assert ended.before == {"access": "deploy", "team": guests.name}
    assert {shared.team, ended.team} == {team1.team}


def test_nobody_else_shares(team1: Team1, admin: User, guests: Team) -> None:
    for user in (team1.alice, team1.charlie):
        with pytest.raises(NotAllowedError, match="Team admin"):
            share_cluster(user, team1.cluster, guests, ShareAccess.READ)
    with pytest.raises(ConflictError, match="belongs to the team"):
        share_cluster(admin, team1.cluster, team1.team, ShareAccess.READ)


def test_a_guest_deploys_for_its_own_team(team1: Team1, guests: Team) -> None:
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    request = submitted(team1, guests)
    assert request.plan.revision.deployment.team == guests
    # The hosts are the other team's, and so is the say over what runs on them.
    assert ApprovalRequest.objects.for_user(team1.bob).get() == request
    assert teams_with_waiting(team1.bob) == [("Serving", 1)]
    assert not Deployment.objects.for_user(team1.bob).exists()
    approve(team1.bob, request)
    release = start_release(team1.charlie, request, "once")
    assert not Release.objects.for_user(team1.bob).exists()
    assert Release.objects.for_user(team1.charlie).get() == release


def test_who_only_sees_or_knows_nothing_submits_nothing(
    team1: Team1, guests: Team
) -> None:
    wish = wish_of(team1, guests)
    with pytest.raises(NotAllowedError, match="not shared"):
        submit_plan(team1.charlie, wish.inputs, wish.spec, shown_digest=wish.digest())
    ClusterShareFactory.create(
        cluster=team1.cluster, team=guests, access=ShareAccess.READ
    )
    with pytest.raises(NotAllowedError, match="not shared"):
        submit_plan(team1.charlie, wish.inputs, wish.spec, shown_digest=wish.digest())
    assert not ApprovalRequest.objects.exists()


def test_a_name_of_the_other_team_is_taken(team1: Team1, guests: Team) -> None:
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    DeploymentFactory.create(cluster=team1.cluster, name="chat")
    wish = wish_of(team1, guests)
    with pytest.raises(PlanningError, match="Another team"):
        plan_on_cluster(wish.inputs, wish.spec)
    with pytest.raises(PlanningError, match="Another team"):
        submit_plan(team1.charlie, wish.inputs, wish.spec, shown_digest="sha256:0")


def test_a_container_of_another_team_is_not_named(team1: Team1, guests: Team) -> None:
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    theirs = submitted(team1, guests).plan.revision.deployment
    own = DeploymentFactory.create(cluster=team1.cluster, team=team1.team)
    row = ReplicaFactory.create(
        release__deployment=own, host__cluster=team1.cluster, container_name="own-1"
    )
    stranger = listed("nginx")

    assert container_name(listed("own-1"), own, row.host) == "own-1"
    assert container_name(stranger, own, row.host) == "nginx"
    for one in (listed("own-1"), stranger):
        assert container_name(one, theirs, row.host) == "a container of another team"


def test_the_finder_and_the_table_of_hosts_know_shared_clusters(
    team1: Team1, guests: Team
) -> None:
    client = browser(team1.charlie)
    host = HostFactory.create(cluster=team1.cluster, name="gpu-shared")

    def seen() -> list[bool]:
        found = client.get("/search/", {"q": "gpu-shared"}).content.decode()
        clusters = client.get("/search/", {"q": team1.cluster.name}).content.decode()
        table = client.get("/fleet/hosts/").content.decode()
        return [
            f"/fleet/hosts/{host.pk}/" in found,
            f"/fleet/clusters/{team1.cluster.pk}/" in clusters,
            f"/fleet/hosts/{host.pk}/" in table,
            f'value="{team1.cluster.pk}"' in table,
        ]

    assert seen() == [False] * 4
    ClusterShareFactory.create(
        cluster=team1.cluster, team=guests, access=ShareAccess.READ
    )
    assert seen() == [True] * 4


def listed(name: str) -> ListedContainer:
    """A container as the engine lists it."""
    return ListedContainer(
        container_id=f"id of {name}",
        name=name,
        state="running",
        host_ports=(8000,),
        labels={},
    )


def test_the_quota_of_a_guest_is_its_own(
    team1: Team1, admin: User, guests: Team
) -> None:
    wish = wish_of(team1, guests)
    # What the owner holds is not counted to the guest.
    holder = ReplicaFactory.create(
        host=team1.host, release__deployment__cluster=team1.cluster
    )
    BookingFactory.create(replica=holder, device=1)
    shown = wish.digest()
    share_cluster(admin, team1.cluster, guests, ShareAccess.DEPLOY, devices=0)
    with pytest.raises(QuotaExceededError, match=guests.name):
        submit_plan(team1.charlie, wish.inputs, wish.spec, shown_digest=shown)
    share_cluster(admin, team1.cluster, guests, ShareAccess.DEPLOY, devices=1)
    submit_plan(team1.charlie, wish.inputs, wish.spec, shown_digest=shown)


def test_without_the_share_nothing_new_starts_and_what_runs_stays(
    team1: Team1, admin: User, guests: Team
) -> None:
    share = ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    request = submitted(team1, guests)
    approve(team1.bob, request)
    live = ReplicaFactory.create(
        host=team1.host,
        release__deployment__cluster=team1.cluster,
        release__deployment__team=guests,
    ).release
    end_share(admin, share)
    with pytest.raises(NotApprovedError, match="not shared with the team"):
        start_release(team1.charlie, request, "once")
    live.refresh_from_db()
    assert live.state == ReleaseState.LIVE
    assert Release.objects.count() == 1


@pytest.mark.parametrize("lost", ["share", "role", "account"])
def test_the_executor_asks_again_before_it_begins(
    team1: Team1, guests: Team, lost: str
) -> None:
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    request = submitted(team1, guests)
    approve(team1.bob, request)
    release = start_release(team1.charlie, request, "once")
    rollout: Any = SimpleNamespace(release=release, broke_glass=False)
    prove_start(rollout)
    if lost == "share":
        ClusterShare.objects.all().delete()
    elif lost == "role":
        RoleGrant.objects.filter(
            membership__user=team1.charlie, role=TeamRole.OPERATOR
        ).delete()
    else:
        User.objects.filter(pk=team1.charlie.pk).update(is_active=False)
    rollout = SimpleNamespace(release=Release.objects.get(), broke_glass=False)
    with pytest.raises(StepFailedError) as refused:
        prove_start(rollout)
    assert refused.value.final == ReleaseState.BLOCKED


def test_the_wizard_offers_what_is_shared_and_says_what_it_is_for(
    team1: Team1, guests: Team
) -> None:
    def offered() -> list[tuple[Team, bool]]:
        found = wizard_choices(team1.charlie, model_key=None, cluster_key=None)
        return [(one.team, bool(one.closed)) for one in found.clusters]

    assert offered() == []
    share = ClusterShareFactory.create(
        cluster=team1.cluster, team=guests, access=ShareAccess.READ
    )
    assert offered() == [(guests, True)]
    ClusterShare.objects.filter(pk=share.pk).update(access=ShareAccess.DEPLOY)
    assert offered() == [(guests, False)]


def test_the_page_shares_by_name_and_ends_it(
    team1: Team1, admin: User, guests: Team
) -> None:
    path = f"/fleet/clusters/{team1.cluster.pk}/shares/"
    client: Client = browser(admin)
    wrong = client.post(path, {"team": "Nobody", "access": "read"})
    assert wrong.status_code == 422
    assert "no team “Nobody”" in wrong.content.decode()
    assert (
        client.post(path, {"team": guests.name, "access": "deploy"}).status_code == 302
    )
    assert guests.name in client.get(path).content.decode()
    share = ClusterShare.objects.get()
    assert client.post(f"{path}end/", {"share": "nonsense"}).status_code == 404
    assert client.post(f"{path}end/", {"share": str(share.pk)}).status_code == 302
    assert not ClusterShare.objects.exists()


def test_an_approver_of_the_owners_decides_on_the_page_and_sees_no_more(
    team1: Team1, guests: Team
) -> None:
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    request = submitted(team1, guests)
    client, path = browser(team1.bob), f"/approvals/{request.pk}/"
    assert client.get(path).status_code == 200
    deployment = request.plan.revision.deployment_id
    assert client.get(f"/deployments/{deployment}/").status_code == 404
    ballot = {"digest": request.digest, "decision": "reject"}
    assert client.post(f"{path}decide/", ballot).status_code == 422
    assert client.post(f"{path}decide/", {**ballot, "comment": "no"}).status_code == 302
    request.refresh_from_db()
    assert request.state == RequestState.REJECTED
    assert client.post(f"{path}withdraw/").status_code == 403


def test_nobody_breaks_the_glass_on_hosts_of_others_by_a_grant_at_home(
    team1: Team1, guests: Team
) -> None:
    ClusterShareFactory.create(cluster=team1.cluster, team=guests)
    request = submitted(team1, guests)
    erin = member(guests, "erin", TeamRole.BREAK_GLASS)
    told = {"reason": "Nothing answers.", "incident": "INC-1"}
    assert not request_page(erin, request).actions.break_glass
    with pytest.raises(NotAllowedError, match="Serving"):
        break_glass(erin, request, "once", **told)
    both = MembershipFactory.create(team=team1.team, user=erin)
    RoleGrantFactory.create(membership=both, role=TeamRole.BREAK_GLASS)
    use = break_glass(erin, request, "once", **told).broken_glass
    check_use(use)
    both.delete()
    with pytest.raises(NotApprovedError, match="may not start"):
        check_use(use)

"""Changing the policy of a cluster: who may, what it leaves alone, and what is a conflict."""

from dataclasses import replace

import pytest

from deployments.models import Cluster, Host, TeamRole, User
from deployments.selectors.planning_inputs import cluster_settings
from deployments.services.clusters import ClusterPolicy, change_policy, policy_of
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.rollout.rollout import policy_of as host_policy
from tests.factories import (
    ApprovalRequestFactory,
    ClusterFactory,
    HostFactory,
    member,
)

pytestmark = pytest.mark.django_db

POLICY = ClusterPolicy(
    requires_other_approver=False,
    image_rewrites=(("vllm/vllm-openai", "registry.example/mirror/vllm-openai"),),
    model_roots=("/data/models",),
    split_cards=True,
    log_root="/data/logs",
)


@pytest.fixture
def cluster() -> Cluster:
    """A cluster under its first policy."""
    return ClusterFactory.create()


@pytest.fixture
def admin(cluster: Cluster) -> User:
    """Who may change it."""
    return member(cluster.team, "dora", TeamRole.ADMIN)


def test_a_change_is_kept_under_the_next_version(cluster: Cluster, admin: User) -> None:
    """What was saved reads back the same."""
    assert change_policy(admin, cluster, POLICY, shown_version=1)
    cluster.refresh_from_db()
    assert policy_of(cluster) == POLICY
    assert cluster.policy_version == 2
    assert cluster_settings(cluster).split_cards
    assert cluster_settings(cluster).log_root == "/data/logs"


def test_containers_keep_log_files_only_where_the_cluster_says(
    cluster: Cluster, admin: User
) -> None:
    """What the plan mounts is what the executor allows."""
    host = HostFactory.create(cluster=cluster, platform="ascend-a3")
    assert host_policy(host).log_roots == ("/var/log/draftboard",)
    change_policy(admin, cluster, POLICY, shown_version=1)
    host = Host.objects.get(pk=host.pk)
    assert host_policy(host).log_roots == ("/data/logs",)


def test_the_same_policy_again_is_no_change(cluster: Cluster, admin: User) -> None:
    """A double click makes no second version, whatever version was shown."""
    change_policy(admin, cluster, POLICY, shown_version=1)
    assert not change_policy(admin, cluster, POLICY, shown_version=1)
    cluster.refresh_from_db()
    assert cluster.policy_version == 2


def test_a_policy_changed_meanwhile_is_not_overwritten(
    cluster: Cluster, admin: User
) -> None:
    """The second of two admins must look again."""
    change_policy(admin, cluster, POLICY, shown_version=1)
    other = replace(POLICY, model_roots=("/other",))
    with pytest.raises(ConflictError, match="Somebody changed this policy"):
        change_policy(admin, cluster, other, shown_version=1)
    cluster.refresh_from_db()
    assert policy_of(cluster) == POLICY


@pytest.mark.parametrize(
    "role", [TeamRole.VIEWER, TeamRole.OPERATOR, TeamRole.APPROVER]
)
def test_other_roles_may_not_change_it(cluster: Cluster, role: TeamRole) -> None:
    """No role implies another."""
    person = member(cluster.team, "somebody", role)
    with pytest.raises(NotAllowedError, match="Team admin"):
        change_policy(person, cluster, POLICY, shown_version=1)
    cluster.refresh_from_db()
    assert cluster.policy_version == 1


def test_the_admin_of_another_team_may_not_change_it(cluster: Cluster) -> None:
    """The role counts in the cluster's own team."""
    stranger = member(ClusterFactory.create().team, "stranger", *TeamRole)
    with pytest.raises(NotAllowedError):
        change_policy(stranger, cluster, POLICY, shown_version=1)


def test_open_requests_keep_the_policy_they_met(cluster: Cluster, admin: User) -> None:
    """A weaker policy does not apply to what was submitted before."""
    request = ApprovalRequestFactory.create(plan__revision__deployment__cluster=cluster)
    change_policy(admin, cluster, POLICY, shown_version=1)
    request.refresh_from_db()
    assert request.requires_other_approver is True
    assert request.policy_version == 1

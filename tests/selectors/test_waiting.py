"""Which requests a person may decide, and how many the navigation counts."""

from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Decision,
    RequestState,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.selectors.waiting import decidable_requests, teams_with_waiting
from deployments.services.approvals import decide
from deployments.services.errors import NotAllowedError
from tests.factories import ApprovalRequestFactory, ClusterFactory, PlanFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    """A cluster of the only team."""
    return ClusterFactory.create()


@pytest.fixture
def bob(cluster: Cluster) -> User:
    """An approver since before every request."""
    return member(cluster.team, "bob", TeamRole.APPROVER)


def request_by(author: User, cluster: Cluster, **changes: object) -> ApprovalRequest:
    """A request whose revision the same person wrote."""
    plan = PlanFactory.create(
        revision__deployment__cluster=cluster, revision__created_by=author
    )
    return ApprovalRequestFactory.create(plan=plan, submitted_by=author, **changes)


def may_decide(user: User, request: ApprovalRequest) -> bool:
    """What the service that decides says; the list must say the same."""
    try:
        decide(user, request, Decision.REJECT, shown_digest=request.digest)
    except NotAllowedError:
        return False
    return True


@pytest.mark.parametrize("other", [True, False])
@pytest.mark.parametrize(
    "roles", [[TeamRole.APPROVER], list(TeamRole), [TeamRole.ADMIN]]
)
@pytest.mark.parametrize("wrote", ["both", "revision", "request", "neither"])
@pytest.mark.parametrize("granted_later", [True, False])
def test_the_list_agrees_with_the_service_that_decides(
    cluster: Cluster,
    *,
    other: bool,
    roles: list[TeamRole],
    wrote: str,
    granted_later: bool,
) -> None:
    """A request is listed exactly when a vote on it would be taken."""
    person = member(cluster.team, "person", *roles)
    somebody = member(cluster.team, "somebody", TeamRole.OPERATOR)
    plan = PlanFactory.create(
        revision__deployment__cluster=cluster,
        revision__created_by=person if wrote in {"both", "revision"} else somebody,
    )
    request = ApprovalRequestFactory.create(
        plan=plan,
        submitted_by=person if wrote in {"both", "request"} else somebody,
        requires_other_approver=other,
    )
    if granted_later:
        later = timezone.now() + timedelta(hours=1)
        RoleGrant.objects.filter(membership__user=person).update(created_at=later)
    listed = decidable_requests(person).filter(pk=request.pk).exists()
    assert listed == may_decide(person, request)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": RequestState.APPROVED},
        {"state": RequestState.WITHDRAWN},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_what_is_over_waits_for_nobody(
    cluster: Cluster, bob: User, changes: dict[str, object]
) -> None:
    """Decided, withdrawn, or out of time."""
    request_by(member(cluster.team, "alice"), cluster, **changes)
    assert not decidable_requests(bob).exists()


def test_requests_are_counted_per_team(cluster: Cluster, bob: User) -> None:
    """Teams without any stand there with zero, foreign teams not at all."""
    author = member(cluster.team, "alice", TeamRole.OPERATOR)
    request_by(author, cluster)
    request_by(author, cluster)
    stranger = member(ClusterFactory.create().team, "charlie", *TeamRole)
    assert teams_with_waiting(bob) == [(cluster.team.name, 2)]
    assert [count for _name, count in teams_with_waiting(stranger)] == [0]

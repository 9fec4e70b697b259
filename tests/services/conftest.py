"""People and a request for tests of use cases."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from celery import current_app
from kombu.transport.memory import Channel

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Decision,
    Deployment,
    Host,
    Plan,
    RequestState,
    Team,
    TeamRole,
    User,
)
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    HostFactory,
    TeamFactory,
    member,
)
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Team1:
    """A team: alice operates and approves, bob approves, charlie is of another team."""

    team: Team
    cluster: Cluster
    host: Host
    alice: User
    bob: User
    charlie: User

    def request(self, name: str = "chat", number: int = 1) -> ApprovalRequest:
        """An open request that alice wrote."""
        return request_for(self.plan(name, number))

    def plan(self, name: str, number: int) -> Plan:
        """A stored plan that alice wrote."""
        known = Deployment.objects.filter(cluster=self.cluster, name=name).first()
        deployment = known or DeploymentFactory.create(
            cluster=self.cluster, name=name, created_by=self.alice
        )
        return stored(deployment, plan_value(name=name, number=number))

    def approved(self, name: str = "chat", number: int = 1) -> ApprovalRequest:
        """A request of alice that bob approved."""
        request = request_for(self.plan(name, number), RequestState.APPROVED)
        vote(request, self.bob, Decision.APPROVE)
        return request


def make_team1() -> Team1:
    """Fill the tables."""
    team = TeamFactory.create(name="Serving")
    cluster = ClusterFactory.create(team=team)
    return Team1(
        team=team,
        cluster=cluster,
        host=HostFactory.create(cluster=cluster, name="gpu-1"),
        alice=member(team, "alice", TeamRole.OPERATOR, TeamRole.APPROVER),
        bob=member(team, "bob", TeamRole.APPROVER),
        charlie=member(
            TeamFactory.create(), "charlie", TeamRole.OPERATOR, TeamRole.APPROVER
        ),
    )


@pytest.fixture
def team1(db: None) -> Team1:
    """The team in an ordinary test, which is rolled back."""
    return make_team1()


@pytest.fixture
def committed_team1(transactional_db: None) -> Team1:
    """The team in a test with several connections, which see each other's commits."""
    return make_team1()


@pytest.fixture
def memory_broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A broker inside the process, empty before and after; gives its address."""
    address = "memory://"
    monkeypatch.setattr(current_app.conf, "broker_url", address)
    monkeypatch.setattr(current_app.conf, "broker_write_url", address)
    Channel.queues.clear()
    yield address
    Channel.queues.clear()

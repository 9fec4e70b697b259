"""The people of every page test: alice operates, bob approves, charlie is of another team."""

import pytest
from django.test import Client

from deployments.models import Cluster, Team, TeamRole, User
from tests.factories import ClusterFactory, TeamFactory, member


@pytest.fixture
def team(db: None) -> Team:
    """The team that owns what the tests look at."""
    return TeamFactory.create(name="Serving platform", slug="serving")


@pytest.fixture
def cluster(team: Team) -> Cluster:
    """A cluster of the team whose policy asks for another approver."""
    return ClusterFactory.create(team=team, name="prod", slug="prod")


@pytest.fixture
def alice(team: Team) -> User:
    """Plans and deploys; may not approve."""
    return member(team, "alice", TeamRole.VIEWER, TeamRole.OPERATOR)


@pytest.fixture
def bob(team: Team) -> User:
    """Approves; may not operate."""
    return member(team, "bob", TeamRole.VIEWER, TeamRole.APPROVER)


@pytest.fixture
def dora(team: Team) -> User:
    """Administers the team; may neither operate nor approve."""
    return member(team, "dora", TeamRole.ADMIN)


@pytest.fixture
def charlie(db: None) -> User:
    """Holds every role, in another team."""
    return member(TeamFactory.create(name="Strangers"), "charlie", *TeamRole)


@pytest.fixture
def as_alice(alice: User) -> Client:
    """A browser in which alice is logged in."""
    return logged_in(alice)


@pytest.fixture
def as_bob(bob: User) -> Client:
    """A browser in which bob is logged in."""
    return logged_in(bob)


@pytest.fixture
def as_dora(dora: User) -> Client:
    """A browser in which dora is logged in."""
    return logged_in(dora)


@pytest.fixture
def as_charlie(charlie: User) -> Client:
    """A browser in which charlie is logged in."""
    return logged_in(charlie)


def logged_in(user: User) -> Client:
    """A browser in which this person is logged in."""
    client = Client()
    client.force_login(user)
    return client

"""What the review says of a plan."""

import pytest

from deployments.models import Cluster, TeamRole, User
from deployments.selectors.wizard_review import (
    approvers_of,
    number_ranges,
    running_plan,
)
from tests.factories import ClusterFactory, DeploymentFactory, TeamFactory, member
from tests.plan_rows import released, stored
from tests.plan_values import plan_value


@pytest.fixture
def cluster(db: None) -> Cluster:
    return ClusterFactory.create(team=TeamFactory.create(), slug="prod")


@pytest.fixture
def author(cluster: Cluster) -> User:
    return member(cluster.team, "alice", TeamRole.OPERATOR, TeamRole.APPROVER)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((), ""),
        ((3,), "3"),
        ((0, 1, 2, 3), "0 to 3"),
        ((5, 0, 1, 7), "0 to 1, 5, 7"),
    ],
)
def test_device_numbers_are_said_as_runs(numbers: tuple[int, ...], text: str) -> None:
    assert number_ranges(numbers) == text


def test_where_another_person_decides_the_author_is_not_named(
    cluster: Cluster, author: User
) -> None:
    member(cluster.team, "bob", TeamRole.APPROVER)
    member(cluster.team, "dora", TeamRole.ADMIN)
    gone = member(cluster.team, "erin", TeamRole.APPROVER)
    gone.is_active = False
    gone.save()

    found = approvers_of(author, cluster, cluster.team)

    assert (found.names, found.other_person) == (("bob",), True)


def test_where_nobody_else_is_asked_the_author_is_named(
    cluster: Cluster, author: User
) -> None:
    cluster.requires_other_approver = False

    assert approvers_of(author, cluster, cluster.team).names == ("alice",)


def test_only_the_live_plan_of_this_cluster_runs(cluster: Cluster) -> None:
    value = plan_value(name="chat")
    elsewhere = DeploymentFactory.create(name="chat")
    released(stored(elsewhere, value), value)

    assert running_plan(cluster, "chat") is None

    here = DeploymentFactory.create(cluster=cluster, name="chat")
    row = stored(here, value)
    released(row, value)
    found = running_plan(cluster, "chat")
    assert found is not None
    assert (found[0].pk, found[1].digest) == (row.pk, value.digest)

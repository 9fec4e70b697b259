"""Whose decision counts, and who may be asked."""

import pytest

from deployments.models import ApprovalRequest, ReleaseState, RoleGrant, TeamRole, User
from deployments.selectors.votes import (
    OBSTACLE_SENTENCES,
    Obstacle,
    obstacle,
    possible_approvers,
    team_of,
    vote_counts,
)
from deployments.selectors.waiting import decidable_requests
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    ReleaseFactory,
    RevisionFactory,
    member,
)
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_row() -> ApprovalRequest:
    """A request of alice, who may approve, in a team with bob, who may too."""
    cluster = ClusterFactory.create()
    alice = member(cluster.team, "alice", TeamRole.OPERATOR, TeamRole.APPROVER)
    member(cluster.team, "bob", TeamRole.APPROVER)
    member(cluster.team, "viewer", TeamRole.VIEWER)
    deployment = DeploymentFactory.create(cluster=cluster, created_by=alice)
    return request_for(stored(deployment, plan_value(name=deployment.name, number=2)))


def person(name: str) -> User:
    """A person by name."""
    return User.objects.get(username=name)


def test_obstacles_are_named(request_row: ApprovalRequest) -> None:
    team = request_row.plan.revision.deployment.cluster.team
    late = member(team, "late", TeamRole.APPROVER)
    assert obstacle(person("bob"), request_row) is None
    assert obstacle(person("alice"), request_row) is Obstacle.AUTHOR
    assert obstacle(person("viewer"), request_row) is Obstacle.NOT_APPROVER
    assert obstacle(late, request_row) is Obstacle.GRANTED_LATER
    guest, twin = (insider(request_row, name) for name in ("guest", "twin"))
    guest.invited_by = person("alice")
    assert obstacle(guest, request_row) is Obstacle.INVITED
    guest.save()
    friend = insider(request_row, "friend")
    friend.invited_by = guest
    assert obstacle(friend, request_row) is Obstacle.INVITED
    friend.invited_by = insider(request_row, "other")
    assert obstacle(friend, request_row) is None
    User.objects.filter(username="alice").update(email="a@example.org")
    twin.email = "A@Example.org"
    assert obstacle(twin, request_row) is Obstacle.SAME_PERSON
    writer = insider(request_row, "writer")
    deployment = request_row.plan.revision.deployment
    earlier = RevisionFactory.create(deployment=deployment, number=1, created_by=writer)
    assert obstacle(writer, request_row) is Obstacle.EDITOR
    ReleaseFactory.create(
        deployment=deployment, plan__revision=earlier, state=ReleaseState.LIVE
    )
    assert obstacle(writer, request_row) is None
    assert OBSTACLE_SENTENCES.keys() == set(Obstacle)


def insider(request: ApprovalRequest, name: str) -> User:
    """An approver whose role is older than the request."""
    user = member(team_of(request), name, TeamRole.APPROVER)
    RoleGrant.objects.filter(membership__user=user).update(
        created_at=request.created_at
    )
    return user


def test_only_people_who_may_decide_are_named(request_row: ApprovalRequest) -> None:
    team = request_row.plan.revision.deployment.cluster.team
    member(team, "late", TeamRole.APPROVER)
    gone = person("bob")
    assert list(possible_approvers(request_row)) == [gone]
    gone.is_active = False
    gone.save()
    assert list(possible_approvers(request_row)) == []


def test_named_people_are_those_without_an_obstacle(
    request_row: ApprovalRequest,
) -> None:
    cluster = request_row.plan.revision.deployment.cluster
    member(cluster.team, "late", TeamRole.APPROVER)
    alice, writer = person("alice"), insider(request_row, "writer")
    alice.email = "a@example.org"
    alice.save()
    close = [
        insider(request_row, name) for name in ("guest", "twin", "friend", "other")
    ]
    User.objects.filter(pk=close[0].pk).update(invited_by=alice)
    User.objects.filter(pk=close[1].pk).update(email=alice.email.upper())
    User.objects.filter(pk=close[2].pk).update(invited_by=close[0])
    User.objects.filter(pk=close[3].pk).update(invited_by=close[2])
    free_of_it = insider(request_row, "free")
    User.objects.filter(pk=free_of_it.pk).update(invited_by=person("bob"))
    deployment = request_row.plan.revision.deployment
    RevisionFactory.create(deployment=deployment, number=1, created_by=writer)
    for strict in (True, False):
        cluster.requires_other_approver = strict
        cluster.save()
        ApprovalRequest.objects.update(requires_other_approver=strict)
        row = ApprovalRequest.objects.get(pk=request_row.pk)
        free = {user for user in User.objects.all() if obstacle(user, row) is None}
        assert set(possible_approvers(row)) == free
        assert {
            one for one in User.objects.all() if row in decidable_requests(one)
        } == free


def test_vote_counts_while_the_voter_may_decide(request_row: ApprovalRequest) -> None:
    ballot = vote(request_row, person("bob"))
    assert vote_counts(ballot, request_row)
    RoleGrant.objects.filter(membership__user=person("bob")).delete()
    assert not vote_counts(ballot, request_row)

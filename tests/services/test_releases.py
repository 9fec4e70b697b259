"""Starting, cancelling, stopping and removing releases: rows and a command, all or nothing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Booking,
    Command,
    CommandKind,
    CommandState,
    Host,
    Release,
    ReleaseState,
    RequestState,
    RoleGrant,
)
from deployments.planning.container import PortMapping
from deployments.planning.plan import PlannedReplica
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from deployments.services.releases import (
    cancel_release,
    remove_release,
    start_release,
    stop_release,
)
from tests.factories import DeploymentFactory, HostFactory
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value, planned_replica
from tests.services.conftest import Team1

End = Callable[..., Command]


def in_state(release: Release, state: ReleaseState) -> Release:
    """The release as the executor would leave it."""
    Release.objects.filter(pk=release.pk).update(
        state=state,
        live_at=timezone.now() if state == ReleaseState.LIVE else None,
        cause="It exited with code 1.",
    )
    Command.objects.filter(release=release).update(state=CommandState.DONE)
    release.refresh_from_db()
    return release


def approved_with(
    team1: Team1, name: str, *replicas: PlannedReplica
) -> ApprovalRequest:
    """An approved request for exactly these replicas."""
    deployment = DeploymentFactory.create(
        cluster=team1.cluster, name=name, created_by=team1.alice
    )
    plan = stored(deployment, plan_value(name=name, replicas=replicas))
    request = request_for(plan, RequestState.APPROVED)
    vote(request, team1.bob)
    return request


def test_one_click_makes_release_replicas_bookings_and_command(team1: Team1) -> None:
    request = team1.approved()
    release = start_release(team1.alice, request, "key-1")
    assert (release.state, release.number) == (ReleaseState.QUEUED, 1)
    assert release.plan == request.plan
    request.refresh_from_db()
    assert request.state == RequestState.RELEASED
    replica = release.replicas.get()
    assert (replica.role, replica.rank, replica.host) == ("combined", 0, team1.host)
    held = Booking.objects.filter(replica=replica, released_at=None)
    assert set(held.values_list("device", "port")) == {(0, None), (None, 8000)}
    command = release.commands.get()
    assert (command.kind, command.state) == (CommandKind.DEPLOY, CommandState.READY)


@pytest.mark.parametrize("key", ["key-1", "key-2"], ids=["same key", "another key"])
def test_second_click_finds_the_first_release(team1: Team1, key: str) -> None:
    request = team1.approved()
    first = start_release(team1.alice, request, "key-1")
    assert start_release(team1.alice, request, key) == first
    assert Release.objects.count() == Command.objects.count() == 1


@pytest.mark.parametrize(
    "state",
    [state for state in RequestState if state != RequestState.APPROVED],
    ids=str,
)
def test_nothing_starts_from_a_request_that_is_not_approved(
    team1: Team1, state: RequestState
) -> None:
    request = team1.approved()
    ApprovalRequest.objects.filter(pk=request.pk).update(state=state)
    # The page that was clicked still said "approved".
    with pytest.raises(ConflictError):
        start_release(team1.alice, request, "key-1")
    assert not Release.objects.exists()
    assert not Booking.objects.exists()
    request.refresh_from_db()
    assert request.state == state


def test_nothing_starts_from_an_approval_that_ran_out(team1: Team1) -> None:
    request = team1.approved()
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotApprovedError, match="ran out"):
        start_release(team1.alice, request, "key-1")
    assert not Release.objects.exists()


def test_nothing_starts_when_the_approver_lost_the_right(team1: Team1) -> None:
    request = team1.approved()
    RoleGrant.objects.filter(membership__user=team1.bob).delete()
    with pytest.raises(NotApprovedError):
        start_release(team1.alice, request, "key-1")
    request.refresh_from_db()
    assert request.state == RequestState.APPROVED


def test_approver_who_is_no_operator_cannot_start(team1: Team1) -> None:
    request = team1.approved()
    for person in (team1.bob, team1.charlie):
        with pytest.raises(NotAllowedError):
            start_release(person, request, "key-1")


def test_released_bookings_are_free_again(team1: Team1) -> None:
    start_release(team1.alice, team1.approved("first"), "key-1")
    Booking.objects.update(released_at=timezone.now())
    assert start_release(team1.alice, team1.approved("second"), "key-2").number == 1


def test_own_earlier_release_keeps_its_bookings_until_handed_over(team1: Team1) -> None:
    first = in_state(
        start_release(team1.alice, team1.approved(number=1), "key-1"), ReleaseState.LIVE
    )
    second = start_release(team1.alice, team1.approved(number=2), "key-2")
    assert (second.number, second.replaces) == (2, first)
    assert set(Booking.objects.values_list("replica__release", flat=True)) == {first.pk}


def test_deployment_that_is_being_changed_cannot_start_another(team1: Team1) -> None:
    start_release(team1.alice, team1.approved(number=1), "key-1")
    with pytest.raises(ConflictError, match="already being changed"):
        start_release(team1.alice, team1.approved(number=2), "key-2")


def test_host_that_left_the_cluster_stops_the_start(team1: Team1) -> None:
    request = team1.approved()
    Host.objects.update(name="renamed")
    with pytest.raises(ConflictError, match="no longer in this cluster"):
        start_release(team1.alice, request, "key-1")
    assert not Release.objects.exists()


def test_host_of_another_cluster_is_never_used(team1: Team1) -> None:
    request = team1.approved()
    Host.objects.update(name="renamed")
    HostFactory.create(name="gpu-1")
    with pytest.raises(ConflictError, match="no longer in this cluster"):
        start_release(team1.alice, request, "key-1")


def test_every_port_and_device_of_every_replica_is_booked(team1: Team1) -> None:
    HostFactory.create(cluster=team1.cluster, name="gpu-2")
    planned = planned_replica(devices=(0, 1))
    ports = (
        PortMapping(host=8000, container=8000, purpose="api"),
        PortMapping(host=20001, container=20001, purpose="kv"),
    )
    two_ports = replace(planned, container=replace(planned.container, ports=ports))
    other = planned_replica(host="gpu-2", rank=1, devices=(0, 1))
    request = approved_with(team1, "wide", two_ports, other)
    start_release(team1.alice, request, "key-1")
    held = Booking.objects.values_list("host__name", "device", "port")
    assert set(held) == {
        ("gpu-1", 0, None),
        ("gpu-1", 1, None),
        ("gpu-1", None, 8000),
        ("gpu-1", None, 20001),
        ("gpu-2", 0, None),
        ("gpu-2", 1, None),
        ("gpu-2", None, 8000),
    }


def test_key_of_another_release_is_no_second_click(team1: Team1) -> None:
    start_release(team1.alice, team1.approved("first"), "key-1")
    planned = planned_replica(name="second", devices=(1,), port=8001)
    second = approved_with(team1, "second", planned)
    with pytest.raises(ConflictError, match="out of date"):
        start_release(team1.alice, second, "key-1")
    assert Release.objects.count() == 1


def test_cancel_asks_the_executor_once_or_twice(team1: Team1) -> None:
    release = start_release(team1.alice, team1.approved(), "key-1")
    cancel_release(team1.alice, release)
    cancel_release(team1.alice, release)
    assert release.commands.get().cancel_requested_at is not None


def test_cancel_needs_something_to_cancel_and_an_operator(team1: Team1) -> None:
    release = start_release(team1.alice, team1.approved(), "key-1")
    with pytest.raises(NotAllowedError):
        cancel_release(team1.bob, release)
    in_state(release, ReleaseState.LIVE)
    with pytest.raises(ConflictError, match="Nothing is being done"):
        cancel_release(team1.alice, release)


@pytest.mark.parametrize(
    "state", [ReleaseState.LIVE, ReleaseState.FAILED, ReleaseState.BLOCKED], ids=str
)
def test_stop_begins_at_once_and_a_double_click_is_one_command(
    team1: Team1, state: ReleaseState
) -> None:
    release = start_release(team1.alice, team1.approved(), "key-1")
    in_state(release, state)
    command = stop_release(team1.alice, release, "key-2")
    assert stop_release(team1.alice, release, "key-2") == command
    release.refresh_from_db()
    assert release.state == ReleaseState.STOPPING
    assert command.kind == CommandKind.STOP
    with pytest.raises(ConflictError, match="Stopping"):
        stop_release(team1.alice, release, "key-3")


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (stop_release, ReleaseState.QUEUED),
        (stop_release, ReleaseState.STOPPED),
        (stop_release, ReleaseState.CANCELLED),
        (remove_release, ReleaseState.LIVE),
        (remove_release, ReleaseState.STARTING),
        (remove_release, ReleaseState.STOPPING),
    ],
)
def test_end_that_does_not_fit_the_state_is_refused(
    team1: Team1, end: End, state: ReleaseState
) -> None:
    release = in_state(start_release(team1.alice, team1.approved(), "key-1"), state)
    with pytest.raises(ConflictError, match="not possible while"):
        end(team1.alice, release, "key-2")
    assert Command.objects.count() == 1


@pytest.mark.parametrize("end", [stop_release, remove_release])
def test_only_operators_of_the_team_end_a_release(team1: Team1, end: End) -> None:
    release = start_release(team1.alice, team1.approved(), "key-1")
    in_state(release, ReleaseState.FAILED)
    for person in (team1.bob, team1.charlie):
        with pytest.raises(NotAllowedError):
            end(person, release, "key-2")


def test_live_release_is_not_stopped_while_its_successor_starts(team1: Team1) -> None:
    first = in_state(
        start_release(team1.alice, team1.approved(number=1), "key-1"), ReleaseState.LIVE
    )
    start_release(team1.alice, team1.approved(number=2), "key-2")
    with pytest.raises(ConflictError, match="Another release"):
        stop_release(team1.alice, first, "key-3")
    first.refresh_from_db()
    assert first.state == ReleaseState.LIVE


def test_key_of_another_command_ends_nothing(team1: Team1) -> None:
    release = start_release(team1.alice, team1.approved(), "key-1")
    in_state(release, ReleaseState.LIVE)
    with pytest.raises(ConflictError, match="out of date"):
        stop_release(team1.alice, release, "key-1")
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE

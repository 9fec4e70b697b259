"""Starting and ending releases on two connections at the same instant."""

import pytest
from django.db import transaction
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Booking,
    Command,
    QueuedBooking,
    Release,
    ReleaseState,
    RequestState,
)
from deployments.services.approvals import withdraw
from deployments.services.device_queue import leave_queue
from deployments.services.errors import ConflictError, NotApprovedError
from deployments.services.releases import start_release, stop_release
from tests.services.conftest import Team1
from tests.services.connections import at_once
from tests.services.test_releases import in_state


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    """The row as another connection reads it."""
    return ApprovalRequest.objects.get(pk=request.pk)


@pytest.mark.parametrize("second_key", ["key-1", "key-2"])
def test_double_click_at_once_is_one_release(
    committed_team1: Team1, second_key: str
) -> None:
    team1 = committed_team1
    request = team1.approved()
    outcomes = at_once(
        lambda: start_release(team1.alice, fresh(request), "key-1"),
        lambda: start_release(team1.alice, fresh(request), second_key),
    )
    release = Release.objects.get()
    assert outcomes == [release, release]
    assert Command.objects.count() == 1


def test_of_two_requests_for_one_device_one_waits(committed_team1: Team1) -> None:
    team1 = committed_team1
    first, second = team1.approved("first"), team1.approved("second")
    outcomes = at_once(
        lambda: start_release(team1.alice, fresh(first), "key-1"),
        lambda: start_release(team1.alice, fresh(second), "key-2"),
    )
    assert [type(one) for one in outcomes] == [Release, Release]
    held = set(Booking.objects.values_list("replica__release", flat=True))
    waiting = set(QueuedBooking.objects.values_list("replica__release", flat=True))
    assert len(held) == len(waiting) == 1
    assert not held & waiting


def test_of_two_who_wait_and_one_who_comes_at_once_the_first_is_next(
    committed_team1: Team1,
) -> None:
    team1 = committed_team1
    start_release(team1.alice, team1.approved("first"), "key-1")
    waiting = [
        start_release(team1.alice, team1.approved(name), f"key-{name}")
        for name in ("second", "third")
    ]
    late = team1.approved("late")
    Booking.objects.update(released_at=timezone.now())

    def turn(release: Release) -> bool:
        with transaction.atomic():
            return leave_queue(release)

    outcomes = at_once(
        lambda: turn(waiting[1]),
        lambda: turn(waiting[0]),
        lambda: bool(start_release(team1.alice, fresh(late), "key-late").queued_at),
    )
    assert outcomes == [False, True, True]
    holders = Booking.objects.filter(released_at=None)
    assert set(holders.values_list("replica__release", flat=True)) == {waiting[0].pk}


def test_two_requests_of_one_deployment_start_one_release(
    committed_team1: Team1,
) -> None:
    team1 = committed_team1
    first, second = team1.approved(number=1), team1.approved(number=2)
    outcomes = at_once(
        lambda: start_release(team1.alice, fresh(first), "key-1"),
        lambda: start_release(team1.alice, fresh(second), "key-2"),
    )
    refused = [one for one in outcomes if isinstance(one, Exception)]
    assert [type(one) for one in refused] == [ConflictError]
    assert Release.objects.count() == 1


def test_withdrawal_and_start_at_once_have_one_winner(committed_team1: Team1) -> None:
    team1 = committed_team1
    request = team1.approved()
    start, withdrawal = at_once(
        lambda: start_release(team1.alice, fresh(request), "key-1"),
        lambda: withdraw(team1.alice, fresh(request)),
    )
    if isinstance(start, Release):
        assert isinstance(withdrawal, ConflictError)
        assert fresh(request).state == RequestState.RELEASED
    else:
        assert isinstance(start, NotApprovedError)
        assert withdrawal is None
        assert fresh(request).state == RequestState.WITHDRAWN
        assert not Release.objects.exists()


@pytest.mark.parametrize("second_key", ["key-2", "key-3"])
def test_double_click_on_stop_is_one_command(
    committed_team1: Team1, second_key: str
) -> None:
    team1 = committed_team1
    release = start_release(team1.alice, team1.approved(), "key-1")
    in_state(release, ReleaseState.LIVE)

    def stop(key: str) -> Command:
        return stop_release(team1.alice, Release.objects.get(pk=release.pk), key)

    outcomes = at_once(lambda: stop("key-2"), lambda: stop(second_key))
    made = {one for one in outcomes if isinstance(one, Command)}
    refused = [one for one in outcomes if isinstance(one, Exception)]
    assert len(made) == 1
    assert [type(one) for one in refused] == (
        [] if second_key == "key-2" else [ConflictError]
    )
    assert Command.objects.filter(kind="stop").count() == 1

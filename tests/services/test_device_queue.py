"""A start on what others hold waits, in the order of arrival, and ends with its approval."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from deployments.docker_api.errors import EngineUnreachableError
from deployments.models import (
    ApprovalRequest,
    Booking,
    Command,
    CommandState,
    QueuedBooking,
    Release,
    ReleaseState,
    Replica,
    RequestState,
    RoleGrant,
)
from deployments.selectors.device_queue import queue_place
from deployments.services.releases import cancel_release, start_release
from deployments.services.rollout.executor import run_command
from deployments.services.rollout.rollout import release_bookings
from tests.plan_values import planned_replica
from tests.services.conftest import Team1
from tests.services.test_releases import approved_with, in_state
from tests.team_rows import FreezeWindowFactory


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has left the queue asks about its approval again, and then finds no host."""

    def unreachable(*_args: object) -> None:
        raise EngineUnreachableError("no host in this test")

    monkeypatch.setattr(
        "deployments.services.rollout.preflight.prove_hosts", unreachable
    )


def started(team1: Team1, name: str) -> Release:
    """A start of a deployment that needs device 0 and port 8000 of the one host."""
    return start_release(team1.alice, team1.approved(name), f"key-{name}")


def look(release: Release) -> Release:
    """One slice of the release's command, whatever its time."""
    Command.objects.filter(release=release).update(not_before=None)
    run_command(release.commands.get().pk)
    release.refresh_from_db()
    return release


def end(release: Release) -> None:
    """The release has failed, and its container was seen gone."""
    in_state(release, ReleaseState.FAILED)
    for replica in release.replicas.all():
        with transaction.atomic():
            release_bookings(replica)


def holders() -> set[str]:
    """The deployments that hold anything."""
    rows = Booking.objects.filter(released_at=None)
    return set(rows.values_list("replica__release__deployment__name", flat=True))


def place(release: Release) -> tuple[int, list[tuple[str, str, bool]]]:
    """The position, and what is waited for behind whom."""
    found = queue_place(release, {row.host_id for row in release.replicas.all()})
    assert found is not None
    behind = [(one.thing, str(one.release), one.queued) for one in found.behind]
    return found.position, behind


def test_a_start_on_held_devices_waits_and_says_behind_whom(team1: Team1) -> None:
    started(team1, "first")
    second = started(team1, "second")
    assert second.state == ReleaseState.QUEUED
    assert second.request.state == RequestState.RELEASED
    assert holders() == {"first"}
    assert place(second) == (
        1,
        [
            ("Device 0 of gpu-1", "first release 1", False),
            ("Port 8000 of gpu-1", "first release 1", False),
        ],
    )
    look(second)
    assert holders() == {"first"}
    assert second.commands.get().state == CommandState.READY


def test_a_port_alone_is_waited_for_and_other_devices_are_not(team1: Team1) -> None:
    started(team1, "first")
    same_port = planned_replica(name="second", devices=(1,), port=8000)
    apart = planned_replica(name="third", devices=(2,), port=8002)
    second = start_release(
        team1.alice, approved_with(team1, "second", same_port), "key-2"
    )
    third = start_release(team1.alice, approved_with(team1, "third", apart), "key-3")
    assert place(second) == (1, [("Port 8000 of gpu-1", "first release 1", False)])
    assert third.queued_at is None
    assert holders() == {"first", "third"}


def test_those_who_wait_start_by_themselves_in_the_order_of_arrival(
    team1: Team1,
    django_capture_on_commit_callbacks: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    woken: list[object] = []
    monkeypatch.setattr("deployments.services.device_queue.wake_command", woken.append)
    first, second, third = (
        started(team1, name) for name in ("first", "second", "third")
    )
    assert place(third)[0] == 2
    for release in (second, third):
        look(release)
    with django_capture_on_commit_callbacks(execute=True):
        end(first)
    assert set(woken) == {second.commands.get().pk, third.commands.get().pk}
    assert place(third) == (
        2,
        [
            ("Device 0 of gpu-1", "second release 1", True),
            ("Port 8000 of gpu-1", "second release 1", True),
        ],
    )
    look(third)
    assert holders() == set()
    look(second)
    assert holders() == {"second"}
    assert queue_place(second, {team1.host.pk}) is None
    assert second.state == ReleaseState.PREFLIGHT
    assert place(third)[0] == 1


def test_one_that_comes_does_not_overtake_those_who_wait(team1: Team1) -> None:
    first, second = started(team1, "first"), started(team1, "second")
    end(first)
    third = started(team1, "third")
    assert place(third)[0] == 2
    assert holders() == set()
    assert look(second).state == ReleaseState.PREFLIGHT


def test_what_the_own_release_holds_is_handed_over_past_those_who_wait(
    team1: Team1,
) -> None:
    in_state(started(team1, "first"), ReleaseState.LIVE)
    second = started(team1, "second")
    again = start_release(team1.alice, team1.approved("first", number=2), "key-again")
    assert again.queued_at is None
    assert place(second)[0] == 1


def test_one_that_waits_can_be_cancelled_and_the_next_moves_up(team1: Team1) -> None:
    started(team1, "first")
    second, third = started(team1, "second"), started(team1, "third")
    cancel_release(team1.alice, second)
    assert look(second).state == ReleaseState.CANCELLED
    assert not QueuedBooking.objects.filter(replica__release=second).exists()
    assert place(third)[0] == 1
    assert holders() == {"first"}


def test_it_ends_when_its_approval_runs_out_while_it_waits(team1: Team1) -> None:
    started(team1, "first")
    second = started(team1, "second")
    ApprovalRequest.objects.filter(pk=second.request_id).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    look(second)
    assert (second.state, second.cause_code) == (
        ReleaseState.BLOCKED,
        "approval_expired",
    )
    assert "ran out while it waited" in second.cause
    second.request.refresh_from_db()
    assert second.request.state == RequestState.EXPIRED
    assert not QueuedBooking.objects.exists()


def test_a_vote_that_no_longer_counts_ends_it(team1: Team1) -> None:
    started(team1, "first")
    second = started(team1, "second")
    RoleGrant.objects.filter(membership__user=team1.bob).delete()
    assert look(second).cause_code == "not_approved"


def test_a_freeze_lets_it_wait_though_everything_is_free(team1: Team1) -> None:
    first, second = started(team1, "first"), started(team1, "second")
    end(first)
    window = FreezeWindowFactory.create(
        cluster=team1.cluster,
        first_day=(timezone.now() - timedelta(days=1)).date(),
        minutes=4 * 24 * 60,
    )
    assert look(second).state == ReleaseState.QUEUED
    assert place(second) == (1, [])
    window.delete()
    assert look(second).state == ReleaseState.PREFLIGHT
    assert Replica.objects.filter(bookings__released_at=None).distinct().count() == 1

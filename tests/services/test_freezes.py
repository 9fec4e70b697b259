"""Freezes: who makes them, what they stop, under the claim and by the database's clock, and the way back."""

import uuid
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Command,
    FreezeKind,
    FreezeWindow,
    Release,
    ReleaseState,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.freezing import Repeat, Window, WindowKind
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.freezes import (
    FrozenError,
    add_window,
    check_freeze,
    end_window,
)
from deployments.services.releases import release_again, start_release, stop_release
from deployments.services.rollout.executor import run_command
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.permission import prove_approval, prove_moment
from deployments.services.rollout.rollout import Rollout
from tests.factories import ClusterFactory, member
from tests.services.conftest import Team1
from tests.services.test_releases import in_state
from tests.team_rows import FreezeWindowFactory

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def closed(team1: Team1, **values: object) -> FreezeWindow:
    """A window of the cluster that began an hour ago, by the clock of UTC, and lasts a day."""
    begun = timezone.now().astimezone(UTC) - HOUR
    day, clock = begun.date(), begun.time()
    given = {"cluster": team1.cluster, "first_day": day, "begins": clock, **values}
    return FreezeWindowFactory.create(**given)


def made_before(row: FreezeWindow, request: ApprovalRequest) -> None:
    """As if the window had been there when the request was made."""
    earlier = request.created_at - HOUR
    FreezeWindow.objects.filter(pk=row.pk).update(created_at=earlier)


def admin_of(team1: Team1) -> User:
    return member(team1.team, "erin", TeamRole.ADMIN)


def key() -> str:
    return uuid.uuid4().hex


def test_only_an_admin_of_the_team_makes_and_ends_windows(team1: Team1) -> None:
    window = Window(
        name="quarter end",
        kind=WindowKind.DENY,
        time_zone="Europe/Berlin",
        begins=datetime(2026, 12, 28, 18),  # noqa: DTZ001 a wall clock
        minutes=90,
        repeat=Repeat.YEARLY,
    )
    for person in (team1.alice, team1.bob, team1.charlie):
        with pytest.raises(NotAllowedError):
            add_window(person, team1.cluster, window, whole_team=False)
    admin = admin_of(team1)
    row = add_window(admin, team1.cluster, window, whole_team=True)
    assert (row.cluster, row.team, row.name) == (None, team1.team, "quarter end")
    with pytest.raises(NotAllowedError):
        end_window(team1.alice, row)
    end_window(admin, row)
    with pytest.raises(ConflictError, match="ended this window already"):
        end_window(admin, row)


def test_a_freeze_stops_what_is_approved_and_nothing_else(team1: Team1) -> None:
    request = team1.approved()
    row = closed(team1)

    with pytest.raises(FrozenError, match=f"freeze “{row.name}”"):
        start_release(team1.alice, request, key())
    request.refresh_from_db()
    assert request.state == RequestState.APPROVED
    assert not Release.objects.exists()
    FreezeWindow.objects.update(ended_at=timezone.now(), ended_by=team1.bob)
    start_release(team1.alice, request, key())


def test_a_window_of_the_team_holds_in_every_cluster_and_nobody_elses(
    team1: Team1,
) -> None:
    closed(team1, cluster=ClusterFactory.create(team=team1.team))
    closed(team1, cluster=ClusterFactory.create())
    check_freeze(team1.approved("a"))
    closed(team1, cluster=None, team=team1.team)
    with pytest.raises(FrozenError):
        check_freeze(team1.approved("b"))


def test_what_began_outside_a_freeze_is_proved_again_under_the_claim(
    team1: Team1, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = start_release(team1.alice, team1.approved(), key())
    closed(team1)
    # The clock of the worker is wrong by days; the database's counts.
    wrong = timezone.now() + timedelta(days=9)
    monkeypatch.setattr("django.utils.timezone.now", lambda: wrong)

    run_command(Command.objects.get(release=release).pk)

    release.refresh_from_db()
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "frozen")
    assert "Release it again when its time has come" in release.next_action
    assert not release.replicas.exclude(container_id="").exists()


def test_what_has_begun_is_finished_whatever_freeze_begins(
    team1: Team1, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = start_release(team1.alice, team1.approved(), key())
    closed(team1)
    rollout = SimpleNamespace(release=release, broke_glass=False)
    # Creating and starting ask for the approval only; beginning asks for the moment as well.
    prove_approval(cast("Rollout", rollout))
    with pytest.raises(StepFailedError, match="Nothing new may start"):
        prove_moment(cast("Rollout", rollout))


def test_ending_a_freeze_opens_nothing_for_what_was_asked_before(team1: Team1) -> None:
    request = team1.approved()
    row = closed(team1)
    made_before(row, request)
    end_window(admin_of(team1), row)

    with pytest.raises(FrozenError):
        check_freeze(request)
    check_freeze(team1.approved("later"))


def test_an_allowed_time_added_later_opens_nothing_for_what_was_asked_before(
    team1: Team1,
) -> None:
    request = team1.approved()
    only = closed(team1, kind=FreezeKind.ALLOW, minutes=1)
    made_before(only, request)
    closed(team1, kind=FreezeKind.ALLOW)

    with pytest.raises(FrozenError):
        check_freeze(request)
    check_freeze(team1.approved("later"))


def live(team1: Team1, number: int) -> Release:
    """A release of one more revision that became live."""
    request = team1.approved(number=number)
    Release.objects.filter(state=ReleaseState.LIVE).update(state=ReleaseState.STOPPED)
    return in_state(start_release(team1.alice, request, key()), ReleaseState.LIVE)


def unchanged_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of these tests were planned for no snapshot."""
    monkeypatch.setattr(
        "deployments.services.releases.changed_hosts", lambda *_plan: []
    )


def test_in_a_freeze_only_the_last_two_plans_that_served_may_start(
    team1: Team1, monkeypatch: pytest.MonkeyPatch
) -> None:
    unchanged_hosts(monkeypatch)
    first, second, third = (live(team1, number) for number in (1, 2, 3))
    closed(team1)

    with pytest.raises(FrozenError):
        release_again(team1.alice, first, key())
    for earlier in (third, second):
        check_freeze(earlier.request)
    back = release_again(team1.alice, second, key())
    # Under the claim it is no longer the newest, and still a way back.
    check_freeze(back.request, number=back.number)
    assert back.plan == second.plan


def test_the_way_back_closes_after_72_hours_and_restoring_does_not(
    team1: Team1,
) -> None:
    first, second = (live(team1, number) for number in (1, 2))
    closed(team1)
    long_ago = timezone.now() - timedelta(hours=73)
    Release.objects.filter(pk=second.pk).update(live_at=long_ago)

    with pytest.raises(FrozenError):
        check_freeze(first.request)
    check_freeze(second.request)


def test_stopping_is_allowed_in_a_freeze(team1: Team1) -> None:
    release = live(team1, 1)
    closed(team1)
    stop_release(team1.alice, release, key())
    release.refresh_from_db()
    assert release.state == ReleaseState.STOPPING

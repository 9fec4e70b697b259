"""Alarms open once, stay while it is wrong, and close when it was right for a while or is over."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from deployments.models import (
    Alarm,
    AlarmEnd,
    AlarmKind,
    Release,
    ReleaseState,
    Replica,
    ServingMinute,
    TeamRole,
)
from deployments.services.alarms import acknowledge_alarm, watch_alarms
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.rollups import roll_up
from deployments.services.standings import judge_standings
from tests.factories import (
    AcceptanceSampleFactory,
    AlarmFactory,
    LogCursorFactory,
    LogGapFactory,
    ReplicaFactory,
    member,
)

pytestmark = pytest.mark.django_db

NOTHING_ACCEPTED: dict[str, Any] = {"accepted": 0, "per_position": [0, 0, 0]}


@pytest.fixture
def replica() -> Replica:
    """A combined replica of a release of EAGLE-3 with three tokens, live for an hour."""
    row = ReplicaFactory.create()
    Release.objects.update(live_at=timezone.now() - timedelta(hours=1))
    row.refresh_from_db()
    return row


def drafted(replica: Replica, minutes_ago: float = 5, **counts: Any) -> None:
    """Ten windows that end so long ago, added up."""
    end = timezone.now() - timedelta(minutes=minutes_ago)
    for _window in range(10):
        AcceptanceSampleFactory.create(
            replica=replica, timestamp_ns=int(end.timestamp() * 10**9), **counts
        )
    heard(replica)
    roll_up()
    judge_standings()


def heard(replica: Replica) -> None:
    """Its log was read just now."""
    if not replica.cursors.exists():
        LogCursorFactory.create(replica=replica)
    replica.cursors.update(read_at=timezone.now())


def alarm(replica: Replica, **more: Any) -> Alarm:
    """An open alarm of what runs."""
    return AlarmFactory.create(
        deployment=replica.release.deployment,
        release_number=replica.release.number,
        **more,
    )


def kinds() -> set[str]:
    return set(Alarm.objects.filter(closed_at=None).values_list("kind", flat=True))


def test_nothing_accepted_opens_one_alarm_that_explains_itself(
    replica: Replica,
) -> None:
    drafted(replica, **NOTHING_ACCEPTED)
    assert watch_alarms() == 1
    assert watch_alarms() == 0
    row = Alarm.objects.get()
    assert row.kind == AlarmKind.SILENT_ZERO
    assert "0 of 6090 drafted tokens" in row.text
    assert row.evidence["threshold"] == 0.01
    assert row.evidence["window_s"] == 1800


def test_a_healthy_deployment_raises_nothing(replica: Replica) -> None:
    drafted(replica)
    assert watch_alarms() == 0
    assert not Alarm.objects.exists()


def test_it_closes_only_after_ten_minutes_without_the_sign(replica: Replica) -> None:
    alarm(replica)
    drafted(replica)
    assert watch_alarms() == 0
    row = Alarm.objects.get()
    assert row.better_since is not None
    Alarm.objects.update(better_since=timezone.now() - timedelta(minutes=11))
    assert watch_alarms() == 1
    row.refresh_from_db()
    assert (row.closed_because, row.closed_at is not None) == (AlarmEnd.RECOVERED, True)


def test_it_stays_when_it_is_wrong_again(replica: Replica) -> None:
    alarm(replica, better_since=timezone.now() - timedelta(minutes=11))
    drafted(replica, **NOTHING_ACCEPTED)
    assert watch_alarms() == 0
    row = Alarm.objects.get()
    assert (row.closed_at, row.better_since) == (None, None)


def test_no_alarm_on_a_prefill_replica(replica: Replica) -> None:
    Replica.objects.update(role="prefill")
    drafted(replica, **NOTHING_ACCEPTED)
    assert watch_alarms() == 0


def test_no_alarm_while_a_release_warms_up(replica: Replica) -> None:
    Release.objects.update(live_at=timezone.now() - timedelta(minutes=1))
    drafted(replica, **NOTHING_ACCEPTED)
    assert watch_alarms() == 0


@pytest.mark.parametrize(
    ("change", "because"),
    [
        ({"state": ReleaseState.STOPPED}, AlarmEnd.STOPPED),
        ({"number": 99}, AlarmEnd.REPLACED),
    ],
)
def test_it_closes_when_nothing_or_something_else_runs(
    replica: Replica, change: dict[str, Any], because: AlarmEnd
) -> None:
    drafted(replica, **NOTHING_ACCEPTED)
    watch_alarms()
    Release.objects.update(**change)
    watch_alarms()
    closed = Alarm.objects.exclude(closed_at=None).get()
    assert closed.closed_because == because


def test_it_closes_when_nothing_is_heard_and_none_opens(replica: Replica) -> None:
    drafted(replica, **NOTHING_ACCEPTED)
    watch_alarms()
    later = timezone.now() + timedelta(minutes=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deployments.services.alarms.stale_edge", lambda: later)
        watch_alarms()
        assert watch_alarms() == 0
    assert Alarm.objects.get().closed_because == AlarmEnd.SILENT


def test_tokens_without_drafts_are_told_from_the_counters(replica: Replica) -> None:
    heard(replica)
    judge_standings()
    ServingMinute.objects.create(
        replica=replica,
        deployment=replica.release.deployment,
        start_s=int(timezone.now().timestamp()) // 60 * 60,
        generated=5000,
    )
    watch_alarms()
    assert kinds() == {AlarmKind.NO_DRAFTS}


def test_lost_lines_are_an_alarm_unless_counters_cover_them(replica: Replica) -> None:
    drafted(replica)
    now_ns = int(timezone.now().timestamp() * 10**9)
    LogGapFactory.create(replica=replica, from_ns=now_ns - 10**9, to_ns=now_ns)
    watch_alarms()
    assert kinds() == {AlarmKind.GAP}
    replica.counter_cursors.create(
        container_id=replica.container_id,
        run_started_at="2026-11-29T08:00:00Z",
        scraped_ns=now_ns,
    )
    Alarm.objects.update(better_since=timezone.now() - timedelta(minutes=11))
    watch_alarms()
    assert kinds() == set()


def test_a_log_that_is_soon_thrown_away_is_an_alarm_until_more_is_kept(
    replica: Replica,
) -> None:
    drafted(replica)
    replica.cursors.update(bytes_per_s=200_000, kept_bytes=64_000_000)
    assert watch_alarms() == 1
    row = Alarm.objects.get()
    assert row.kind == AlarmKind.LOG_RATE
    assert "a line is gone after 5.3 minutes" in row.text
    replica.cursors.update(kept_bytes=300_000_000)
    Alarm.objects.update(better_since=timezone.now() - timedelta(minutes=11))
    watch_alarms()
    assert kinds() == {AlarmKind.LOG_RATE}
    replica.cursors.update(kept_bytes=400_000_000)
    watch_alarms()
    Alarm.objects.update(better_since=timezone.now() - timedelta(minutes=11))
    assert watch_alarms() == 1
    assert kinds() == set()


def test_the_clock_of_a_host_is_an_alarm_of_what_runs_there(replica: Replica) -> None:
    drafted(replica)
    host = type(replica.host).objects.filter(pk=replica.host_id)
    host.update(clock_offset_ms=-600_000)
    assert watch_alarms() == 1
    assert kinds() == {AlarmKind.CLOCK}
    assert "600.0 seconds behind" in Alarm.objects.get().text
    host.update(clock_offset_ms=300)
    watch_alarms()
    Alarm.objects.update(better_since=timezone.now() - timedelta(minutes=11))
    assert watch_alarms() == 1
    assert kinds() == set()


def test_a_fall_is_dated_by_its_change_point(replica: Replica) -> None:
    for hours in range(2, 40):
        drafted(replica, minutes_ago=60 * hours + 30)
    lower: dict[str, Any] = {"accepted": 300, "per_position": [150, 100, 50]}
    drafted(replica, minutes_ago=5, **lower)
    judge_standings()
    watch_alarms()
    row = Alarm.objects.get(kind=AlarmKind.DROP)
    assert row.began_at < row.opened_at
    assert "2.48" in row.text
    assert "3.00" in row.text


def test_an_operator_says_that_somebody_knows(replica: Replica) -> None:
    row = alarm(replica)
    team = row.deployment.cluster.team
    operator = member(team, "olga", TeamRole.OPERATOR)
    acknowledge_alarm(operator, row, "  driver   rolled back ")
    row.refresh_from_db()
    assert (row.acknowledged_by, row.note) == (operator, "driver rolled back")
    with pytest.raises(NotAllowedError):
        acknowledge_alarm(member(team, "vera", TeamRole.VIEWER), row, "")
    with pytest.raises(ConflictError, match="at most 500"):
        acknowledge_alarm(operator, row, "x" * 501)

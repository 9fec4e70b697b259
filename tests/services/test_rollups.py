"""Samples are added up once, whenever they come and whatever is killed; standings follow."""

import os
import random
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from deployments.models import (
    AcceptanceSample,
    AcceptanceStanding,
    DayRollup,
    HourRollup,
    MinuteRollup,
    ReleaseState,
    Replica,
    Rollup,
    ServingDay,
    ServingHour,
    ServingMinute,
    Standing,
)
from deployments.services.retention import forget_old
from deployments.services.rollups import LEVELS, roll_up
from deployments.services.standings import judge_standings
from deployments.telemetry.acceptance_history import Counts, total
from tests.factories import (
    AcceptanceSampleFactory,
    LogCursorFactory,
    ReplicaFactory,
)

pytestmark = pytest.mark.django_db

SECOND = 10**9
NOON = 1_795_780_800
"""2026-11-27 12:00 UTC."""


class KilledError(Exception):
    """Stands for the death of a worker within its transaction."""


@pytest.fixture
def replica() -> Replica:
    """A combined replica of a live release of EAGLE-3 with three tokens."""
    return ReplicaFactory.create()


def sample(replica: Replica, at_s: float, **counts: Any) -> AcceptanceSample:
    """A window that was printed at a time in seconds."""
    return AcceptanceSampleFactory.create(
        replica=replica, timestamp_ns=round(at_s * SECOND), **counts
    )


def counts_of(row: AcceptanceSample | Rollup) -> Counts:
    """The columns as counts."""
    return Counts(
        accepted=row.accepted,
        drafted=row.drafted,
        num_drafts=row.num_drafts,
        per_position=tuple(row.per_position),
    )


def sums(level: type[Rollup], start_s: int, end_s: int) -> Counts:
    """What a level says of a range."""
    rows = level._default_manager.filter(start_s__gte=start_s, start_s__lt=end_s)
    return total(counts_of(row) for row in rows)


def test_every_level_sums_to_what_the_samples_sum_to(replica: Replica) -> None:
    """Over any range of whole steps, with two counts of positions and unknown drafts among them."""
    chance = random.Random(8)  # noqa: S311
    for _ in range(300):
        drafts = chance.randrange(0, 300)
        positions = chance.choice((2, 3))
        shares = sorted(
            (chance.randrange(drafts + 1) for _ in range(positions)), reverse=True
        )
        sample(
            replica,
            NOON + chance.randrange(1, 3 * 86_400),
            drafted=drafts * positions,
            accepted=sum(shares),
            num_drafts=drafts,
            per_position=shares if drafts else [],
        )
    assert roll_up() == 300
    for level in LEVELS:
        for _ in range(20):
            first, last = sorted(chance.sample(range(4 * 86_400 // level.STEP_S), 2))
            start = NOON - NOON % 86_400 + first * level.STEP_S
            end = NOON - NOON % 86_400 + last * level.STEP_S
            samples = AcceptanceSample.objects.filter(
                timestamp_ns__gt=start * SECOND, timestamp_ns__lte=end * SECOND
            )
            assert sums(level, start, end) == total(map(counts_of, samples))


def test_an_unknown_number_of_drafts_stays_unknown(replica: Replica) -> None:
    sample(replica, NOON + 10, num_drafts=None, per_position=[])
    sample(replica, NOON + 20, num_drafts=None, per_position=[])
    roll_up()
    row = MinuteRollup.objects.get()
    assert (row.num_drafts, row.accepted, row.windows) == (None, 812, 2)


def test_the_end_of_a_step_belongs_to_it(replica: Replica) -> None:
    """A window printed at 12:01:00 drafted in the minute before."""
    sample(replica, NOON + 60)
    sample(replica, NOON + 60.000001)
    roll_up()
    assert [row.start_s for row in MinuteRollup.objects.all()] == [NOON, NOON + 60]


def test_adding_up_again_changes_nothing(replica: Replica) -> None:
    sample(replica, NOON + 10)
    assert [roll_up(), roll_up()] == [1, 0]
    assert [level._default_manager.get().windows for level in LEVELS] == [1, 1, 1]


def test_late_samples_go_to_the_bucket_of_their_own_time(replica: Replica) -> None:
    """However long after their minute they come."""
    sample(replica, NOON + 10)
    sample(replica, NOON + 7200)
    roll_up()
    sample(replica, NOON + 15, accepted=0, per_position=[0, 0, 0])
    roll_up()
    first = MinuteRollup.objects.get(start_s=NOON)
    assert (first.windows, first.accepted, first.drafted) == (2, 406, 1218)
    assert first.per_position == [183, 132, 91]
    assert DayRollup.objects.get().windows == 3


def test_more_than_one_round_can_take_is_left_for_the_next(replica: Replica) -> None:
    for place in range(5):
        sample(replica, NOON + 10 * place + 1)
    assert [roll_up(2), roll_up(2), roll_up(2), roll_up(2)] == [2, 2, 1, 0]
    assert HourRollup.objects.get().windows == 5


def test_a_killed_round_leaves_everything_as_it_was(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums, marks and standings are one transaction."""
    sample(replica, NOON + 10)

    def die(place: str) -> None:
        raise KilledError

    monkeypatch.setattr("deployments.services.rollups.fault_point", die)
    with pytest.raises(KilledError):
        roll_up()
    assert MinuteRollup.objects.count() == AcceptanceStanding.objects.count() == 0
    monkeypatch.undo()
    assert roll_up() == 1
    assert MinuteRollup.objects.get().windows == 1


@pytest.mark.django_db(transaction=True)
def test_a_round_killed_at_its_last_step_adds_nothing_twice(
    replica: Replica, settings: Any
) -> None:
    """SIGKILL within the transaction, in a process of its own, and then a round that lives."""
    for place in range(30):
        sample(replica, NOON + place)
    settings.FAULT_POINTS = ("after:ROLLUP:kill9",)
    for _ in range(3):
        assert in_a_child(roll_up) == -signal.SIGKILL
        assert not MinuteRollup.objects.exists()
    settings.FAULT_POINTS = ()
    assert roll_up() == 30
    assert sum(row.windows for row in DayRollup.objects.all()) == 30


def in_a_child(work: Callable[[], object]) -> int:
    """Run in a forked process with its own connection; returns how it ended."""
    connection.close()
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    _pid, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_standings_say_how_the_last_day_went(replica: Replica) -> None:
    """24 hours by hour, and the seven days before today."""
    now = timezone.now()
    sample(replica, now.timestamp() - 60)
    sample(
        replica,
        now.timestamp() - 3 * 86_400,
        accepted=203,
        per_position=[183, 20, 0],
    )
    roll_up()
    assert judge_standings() == 1
    row = AcceptanceStanding.objects.get()
    assert (row.accepted, row.drafted, row.num_drafts) == (406, 609, 203)
    assert (row.before_accepted, row.before_num_drafts) == (203, 203)
    assert row.verdict == Standing.HEALTHY
    assert row.course[-2:].count(3.0) == 1
    assert row.course.count(None) == 23
    assert judge_standings() == 0


def test_a_live_deployment_stands_without_samples_too() -> None:
    """And what does not draft says so."""
    ReplicaFactory.create(release__plan__method="off")
    ReplicaFactory.create()
    ReplicaFactory.create(release__state=ReleaseState.STOPPED)
    judge_standings()
    verdicts = sorted(AcceptanceStanding.objects.values_list("verdict", flat=True))
    assert verdicts == [Standing.NO_DATA, Standing.OFF]


def test_few_drafts_are_kept_as_too_few(replica: Replica) -> None:
    now = timezone.now().timestamp()
    sample(
        replica,
        now - 20,
        accepted=48,
        drafted=72,
        num_drafts=24,
        per_position=[20, 16, 12],
    )
    roll_up()
    judge_standings()
    row = AcceptanceStanding.objects.get()
    assert (row.verdict, row.num_drafts) == (Standing.TOO_FEW, 24)


def test_new_samples_are_judged_at_once(replica: Replica) -> None:
    """Not ten minutes later, when the day has slid on."""
    now = timezone.now().timestamp()
    sample(replica, now - 20)
    roll_up()
    judge_standings()
    sample(replica, now - 10, accepted=0, drafted=90_000, num_drafts=30_000)
    AcceptanceSample.objects.filter(accepted=0).update(per_position=[0, 0, 0])
    roll_up()
    assert judge_standings() == 1
    assert AcceptanceStanding.objects.get().verdict == Standing.ZERO


def test_a_look_at_the_log_counts_as_hearing_and_prefill_does_not(
    replica: Replica,
) -> None:
    """A quiet deployment is not a silent one."""
    minute_ago = timezone.now() - timedelta(minutes=1)
    LogCursorFactory.create(replica=replica, read_at=minute_ago)
    prefill = ReplicaFactory.create(role="prefill")
    LogCursorFactory.create(replica=prefill, read_at=minute_ago)
    judge_standings()
    heard = dict(AcceptanceStanding.objects.values_list("deployment", "heard_at"))
    assert heard == {
        replica.release.deployment_id: minute_ago,
        prefill.release.deployment_id: None,
    }


def test_what_is_too_old_is_forgotten_by_level(replica: Replica, settings: Any) -> None:
    """Samples that no roll-up holds yet stay, whatever their age; zero days keep for ever."""
    now = timezone.now()
    for days in (1, 20, 40, 500):
        sample(replica, (now - timedelta(days=days)).timestamp())
    roll_up()
    waiting = sample(replica, (now - timedelta(days=50)).timestamp())
    deleted = forget_old()
    assert deleted == 3 + 2 + 1
    kept = AcceptanceSample.objects.filter(rolled_up=False)
    assert list(kept) == [waiting]
    assert AcceptanceSample.objects.count() == 2
    assert MinuteRollup.objects.count() == 2
    assert HourRollup.objects.count() == 3
    assert DayRollup.objects.count() == 4
    settings.DAYS_KEPT_DAYS = 30
    assert forget_old() == 0
    AcceptanceStanding.objects.update(pruned_at=now - timedelta(hours=7))
    assert forget_old() == 2


def test_sums_of_serving_are_forgotten_with_their_level(replica: Replica) -> None:
    now_s = int(timezone.now().timestamp())
    for level in (ServingMinute, ServingHour, ServingDay):
        for days in (1, 40):
            level._default_manager.create(
                replica=replica,
                deployment=replica.release.deployment,
                start_s=now_s - days * 86_400,
            )
    AcceptanceStanding.objects.create(deployment=replica.release.deployment)
    assert forget_old() == 1
    assert ServingMinute.objects.count() == 1
    assert ServingHour.objects.count() == ServingDay.objects.count() == 2


def test_a_late_sample_after_its_minute_was_forgotten_is_still_counted(
    replica: Replica,
) -> None:
    """The sums of hours and days are added to, never made again from what is left."""
    old = (timezone.now() - timedelta(days=40)).timestamp()
    sample(replica, old)
    roll_up()
    forget_old()
    sample(replica, old)
    roll_up()
    assert HourRollup.objects.get().windows == 2


def test_prefill_replicas_are_not_judged() -> None:
    replica = ReplicaFactory.create(role="prefill")
    sample(replica, timezone.now().timestamp() - 5)
    roll_up()
    judge_standings()
    row = AcceptanceStanding.objects.get()
    assert (row.verdict, row.drafted) == (Standing.NO_DATA, 0)
    assert row.course == [None] * 24

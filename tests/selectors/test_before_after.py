"""Which windows are compared after a change of speculation; nothing of another release is in them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from deployments.models import Deployment, Release, Replica
from deployments.selectors.before_after import Changed, newest_change
from deployments.telemetry.before_after import BeforeAfter
from tests.factories import (
    AcceptanceSampleFactory,
    DeploymentFactory,
    ReleaseFactory,
    ReplicaFactory,
)
from tests.metric_rows import CounterCursorFactory, ServingMinuteFactory

pytestmark = pytest.mark.django_db

NOW = 1_795_800_000
SLOW = {"sum": 2.0, "count": 40, "le": {"0.05": 40}}
FAST = {"sum": 1.0, "count": 60, "le": {"0.025": 60, "0.05": 0}}


def release(deployment: Deployment, number: int, ago_min: int, **plan: Any) -> Replica:
    """A replica of a release that went live so many minutes ago."""
    row = ReleaseFactory.create(
        deployment=deployment,
        number=number,
        state="stopped",
        live_at=datetime.fromtimestamp(NOW - 60 * ago_min, UTC),
        **{f"plan__{name}": value for name, value in plan.items()},
    )
    return ReplicaFactory.create(release=row, role="decode")


def minutes(replica: Replica, first_ago: int, last_ago: int, **more: Any) -> None:
    for ago in range(first_ago, last_ago, -1):
        ServingMinuteFactory.create(
            replica=replica,
            start_s=NOW - 60 * ago,
            **{
                "scrapes": 6,
                "running_sum": 48,
                "requests": 40,
                "prompted": 40_000,
                "generated": 16_000,
                "output_token": SLOW,
                **more,
            },
        )


@pytest.fixture
def deployment() -> Deployment:
    return DeploymentFactory.create()


@pytest.fixture
def before(deployment: Deployment) -> Replica:
    """Without speculation, live for an hour and 40 minutes."""
    replica = release(deployment, 1, 200, method="off", num_speculative_tokens=None)
    Release.objects.update(ended_at=datetime.fromtimestamp(NOW - 6000, UTC))
    return replica


def compared(changed: Changed | None) -> BeforeAfter:
    assert changed is not None
    assert changed.pair is not None
    return changed.pair


def test_an_hour_of_each_release_is_compared_and_nothing_else(
    deployment: Deployment, before: Replica
) -> None:
    minutes(before, 190, 99)
    after = release(deployment, 2, 90, method="mtp", num_speculative_tokens=3)
    minutes(
        after, 85, 0, requests=60, prompted=60_000, generated=24_000, output_token=FAST
    )
    prefill = ReplicaFactory.create(release=after.release, role="prefill", rank=1)
    minutes(prefill, 60, 50, requests=10_000)
    CounterCursorFactory.create(
        replica=after, output_from="time_per_output_token_seconds"
    )
    AcceptanceSampleFactory.create(replica=after, timestamp_ns=(NOW - 1800) * 10**9)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        changed = newest_change(deployment, NOW)
    assert len(queries) == 3
    pair = compared(changed)
    assert pair.comparable, pair.against
    assert (pair.before.length_s, pair.after.length_s) == (3600, 3600)
    assert pair.before.start_s == NOW - 6000 - 3600
    assert pair.after.start_s == NOW - 5400 + 300
    assert (pair.before.requests, pair.after.requests) == (2400, 3600)
    assert pair.after.concurrency == 8.0
    assert pair.after.counts.drafted > 0 == pair.before.counts.drafted
    assert pair.after.output_from == "time_per_output_token_seconds"


def test_a_release_without_another_setting_is_no_change(
    deployment: Deployment, before: Replica
) -> None:
    assert newest_change(deployment, NOW) is None
    after = release(deployment, 2, 90, method="off", num_speculative_tokens=None)
    assert newest_change(deployment, NOW) is None
    release(deployment, 3, 60, method="mtp", num_speculative_tokens=3)
    changed = newest_change(deployment, NOW)
    assert changed is not None
    assert changed.before == after.release


def test_a_release_with_a_canary_is_neither_before_nor_after(
    deployment: Deployment, before: Replica
) -> None:
    minutes(before, 190, 99)
    trying = release(deployment, 2, 90, method="mtp", num_speculative_tokens=3)
    Replica.objects.filter(pk=trying.pk).update(canary=True)
    assert newest_change(deployment, NOW) is None
    after = release(deployment, 3, 60, method="mtp", num_speculative_tokens=3)
    minutes(after, 55, 0)
    changed = newest_change(deployment, NOW)
    assert changed is not None
    assert (changed.before, changed.after) == (before.release, after.release)


def test_after_a_month_nobody_asks(deployment: Deployment, before: Replica) -> None:
    release(deployment, 2, 90, method="mtp", num_speculative_tokens=3)
    assert newest_change(deployment, NOW + 31 * 86_400) is None


@pytest.mark.parametrize(
    ("ago_min", "said"),
    [(10, "when it has been live for 21 minutes"), (180, "before was not live for 20")],
)
def test_what_is_too_short_says_so(
    deployment: Deployment, before: Replica, ago_min: int, said: str
) -> None:
    if ago_min > 100:
        Release.objects.update(ended_at=datetime.fromtimestamp(NOW - 10_860, UTC))
    release(deployment, 2, ago_min, method="mtp", num_speculative_tokens=3)
    changed = newest_change(deployment, NOW)
    assert changed is not None
    assert changed.pair is None
    assert said in changed.said[0]


def test_the_same_time_of_day_stands_in_where_the_load_just_before_was_another(
    deployment: Deployment,
) -> None:
    before = release(deployment, 1, 3000, method="off", num_speculative_tokens=None)
    after = release(deployment, 2, 30, method="mtp", num_speculative_tokens=3)
    minutes(after, 25, 0)
    minutes(before, 46, 30, requests=900, running_sum=900)
    minutes(before, 1440 + 25, 1440, requests=41)
    pair = compared(newest_change(deployment, NOW))
    assert pair.comparable, pair.against
    assert pair.after.start_s - pair.before.start_s == 86_400

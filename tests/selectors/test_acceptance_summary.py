"""Sums of acceptance for many deployments, made in the database."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from deployments.models import Replica
from deployments.selectors.acceptance_summary import (
    BUCKETS,
    SPAN_NS,
    AcceptanceSummary,
    acceptance_of,
)
from tests.factories import AcceptanceSampleFactory, ReplicaFactory, nanoseconds

pytestmark = pytest.mark.django_db


@pytest.fixture
def replica() -> Replica:
    """A combined replica of a live release."""
    return ReplicaFactory.create()


def summary(replica: Replica, now_ns: int) -> AcceptanceSummary:
    """The summary of the replica's deployment."""
    pk = replica.release.deployment_id
    return acceptance_of([pk], now_ns)[pk]


def test_windows_add_up_by_half_hour_and_in_all(replica: Replica) -> None:
    """Ratios are of sums, never means of ratios."""
    now = timezone.now()
    for minutes, accepted in ((1, 600), (2, 0), (45, 300)):
        AcceptanceSampleFactory.create(
            replica=replica,
            timestamp_ns=nanoseconds(now - timedelta(minutes=minutes)),
            accepted=accepted,
            drafted=600,
            num_drafts=200,
        )
    found = summary(replica, nanoseconds(now))
    assert (found.counts.accepted, found.counts.drafted) == (900, 1800)
    assert found.counts.acceptance_rate == 0.5
    assert found.lengths[-2:] == (2.5, 2.5)
    assert found.lengths[:-2] == (None,) * (BUCKETS - 2)
    assert found.newest_ns == nanoseconds(now - timedelta(minutes=1))


def test_the_edges_of_the_span_belong_to_it_once(replica: Replica) -> None:
    """The newest instant counts, the one a day before does not."""
    now = nanoseconds(timezone.now())
    for stamp in (now - SPAN_NS, now - SPAN_NS + 1, now, now + 1):
        AcceptanceSampleFactory.create(replica=replica, timestamp_ns=stamp)
    found = summary(replica, now)
    assert found.counts.drafted == 2 * 609
    assert found.lengths[0] is not None
    assert found.lengths[-1] is not None


def test_windows_without_drafts_leave_the_length_unknown(replica: Replica) -> None:
    """What one window does not know, the sum does not know."""
    AcceptanceSampleFactory.create(replica=replica)
    AcceptanceSampleFactory.create(replica=replica, num_drafts=None)
    found = summary(replica, nanoseconds(timezone.now()))
    assert found.counts.acceptance_rate == pytest.approx(812 / 1218)
    assert found.counts.mean_acceptance_length is None
    assert found.positions is None


def test_positions_are_those_of_the_last_hour(replica: Replica) -> None:
    """Older windows count for the day, but not for the strip."""
    now = timezone.now()
    AcceptanceSampleFactory.create(
        replica=replica, num_drafts=100, per_position=[90, 50, 10]
    )
    AcceptanceSampleFactory.create(
        replica=replica,
        timestamp_ns=nanoseconds(now - timedelta(hours=2)),
        per_position=[0, 0, 0],
    )
    found = summary(replica, nanoseconds(timezone.now()))
    assert found.positions == (0.9, 0.5, 0.1)


def test_nothing_drafted_is_nothing_known(replica: Replica) -> None:
    """Idle windows are no zero per cent."""
    AcceptanceSampleFactory.create(
        replica=replica, accepted=0, drafted=0, num_drafts=0, per_position=[]
    )
    assert summary(replica, nanoseconds(timezone.now())) == AcceptanceSummary()


def test_any_number_of_deployments_takes_two_queries() -> None:
    """The overview shows them all."""
    replicas = ReplicaFactory.create_batch(5)
    for replica in replicas:
        AcceptanceSampleFactory.create(replica=replica)
    pks = [replica.release.deployment_id for replica in replicas]
    with CaptureQueriesContext(connection) as captured:
        found = acceptance_of(pks, nanoseconds(timezone.now()))
    assert len(captured) == 2
    assert [found[pk].counts.drafted for pk in pks] == [609] * 5

"""Sums of acceptance for many deployments, made in the database."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from deployments.models import Replica
from deployments.selectors.acceptance_summary import (
    BUCKETS,
    HOUR_NS,
    Lengths,
    lengths_of,
)
from deployments.services.rollups import roll_up
from tests.factories import AcceptanceSampleFactory, ReplicaFactory, nanoseconds

pytestmark = pytest.mark.django_db


@pytest.fixture
def replica() -> Replica:
    """A combined replica of a live release."""
    return ReplicaFactory.create()


def lengths(replica: Replica, now_ns: int) -> Lengths:
    """The lengths of the replica's deployment."""
    pk = replica.release.deployment_id
    return lengths_of([pk], now_ns)[pk]


@pytest.mark.parametrize("rounds", [0, 1])
def test_windows_add_up_by_hour_and_in_all(replica: Replica, rounds: int) -> None:
    """Ratios are of sums, never means of ratios, whether a roll-up holds them or not."""
    now = nanoseconds(timezone.now()) // HOUR_NS * HOUR_NS
    for minutes, accepted in ((1, 600), (2, 0), (61, 300)):
        AcceptanceSampleFactory.create(
            replica=replica,
            timestamp_ns=now - minutes * 60 * 10**9,
            accepted=accepted,
            drafted=600,
            num_drafts=200,
        )
    for _ in range(rounds):
        roll_up()
    found = lengths(replica, now)
    assert found.acceptance_rate == 0.5
    assert found.mean_acceptance_length == 2.5
    assert found.course[-2:] == (2.5, 2.5)
    assert found.course[:-2] == (None,) * (BUCKETS - 2)


def test_an_hour_of_which_a_part_is_not_rolled_up_yet_is_whole(
    replica: Replica,
) -> None:
    """Each sample is in one place, so nothing counts twice and nothing is missed."""
    now = nanoseconds(timezone.now()) // HOUR_NS * HOUR_NS
    AcceptanceSampleFactory.create(replica=replica, timestamp_ns=now - 5)
    roll_up()
    AcceptanceSampleFactory.create(
        replica=replica, timestamp_ns=now - 4, accepted=0, per_position=[0, 0, 0]
    )
    assert lengths(replica, now).course[-1] == 2.0


def test_the_edges_of_the_span_belong_to_it_once(replica: Replica) -> None:
    """The newest instant counts, the one a day before does not."""
    now = nanoseconds(timezone.now()) // HOUR_NS * HOUR_NS
    for stamp in (now - 24 * HOUR_NS, now - 24 * HOUR_NS + 1, now, now + 1):
        AcceptanceSampleFactory.create(replica=replica, timestamp_ns=stamp)
    for _ in range(2):
        found = lengths(replica, now)
        assert [place for place, one in enumerate(found.course) if one] == [0, 23]
        roll_up()


def test_windows_without_drafts_leave_the_length_unknown(replica: Replica) -> None:
    """What one window does not know, the sum does not know."""
    AcceptanceSampleFactory.create(replica=replica)
    AcceptanceSampleFactory.create(replica=replica, num_drafts=None, per_position=[])
    for _ in range(2):
        found = lengths(replica, nanoseconds(timezone.now()))
        assert found.acceptance_rate == pytest.approx(812 / 1218)
        assert found.mean_acceptance_length is None
        assert found.course == (None,) * BUCKETS
        roll_up()


def test_nothing_drafted_and_prefill_are_nothing_known(replica: Replica) -> None:
    """Idle windows are no zero per cent, and prefill decodes one token a request."""
    AcceptanceSampleFactory.create(
        replica=replica, accepted=0, drafted=0, num_drafts=0, per_position=[]
    )
    prefill = ReplicaFactory.create(release=replica.release, role="prefill")
    AcceptanceSampleFactory.create(replica=prefill)
    for _ in range(2):
        assert lengths(replica, nanoseconds(timezone.now())) == Lengths()
        roll_up()


def test_any_number_of_deployments_takes_one_query() -> None:
    """A list shows a page of them."""
    replicas = ReplicaFactory.create_batch(5)
    for replica in replicas:
        AcceptanceSampleFactory.create(replica=replica)
    pks = [replica.release.deployment_id for replica in replicas]
    with CaptureQueriesContext(connection) as captured:
        found = lengths_of(pks, nanoseconds(timezone.now() + timedelta(seconds=1)))
    assert len(captured) == 1
    assert [found[pk].acceptance_rate for pk in pks] == [pytest.approx(2 / 3)] * 5

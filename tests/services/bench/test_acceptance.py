"""Acceptance of a run behind a router is that of all its engines in that time, and of nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.models import BenchmarkSegment, ReleaseState
from deployments.services.bench.acceptance import with_acceptance
from deployments.telemetry.benchmarks.values import BenchmarkRun, RunSpeculation
from tests.factories import AcceptanceSampleFactory, ReleaseFactory, ReplicaFactory

pytestmark = pytest.mark.django_db
SECOND = 10**9


def test_windows_of_both_engines_within_the_run_count() -> None:
    release = ReleaseFactory.create(
        state=ReleaseState.LIVE, plan__num_speculative_tokens=3
    )
    ended = timezone.now()
    row = BenchmarkSegment(began_at=ended - timedelta(minutes=1), ended_at=ended)
    assert with_acceptance(BenchmarkRun(), row, release).speculation is None
    end_ns = int(ended.timestamp()) * SECOND
    engines = [
        ReplicaFactory.create(release=release, role="decode", rank=rank)
        for rank in (0, 1)
    ]
    prefill = ReplicaFactory.create(release=release, role="prefill", rank=0)
    elsewhere = ReplicaFactory.create(role="decode")
    for replica in (*engines, prefill, elsewhere):
        for ago in (10, 40, 70):
            AcceptanceSampleFactory.create(
                replica=replica, timestamp_ns=end_ns - ago * SECOND
            )
    told = with_acceptance(BenchmarkRun(), row, release).speculation
    assert told is not None
    assert (told.accepted, told.drafted, told.num_drafts) == (1624, 2436, 812)
    assert (told.acceptance_rate, told.mean_acceptance_length) == (2 / 3, 3.0)
    assert told.per_position == (183 / 203, 132 / 203, 91 / 203)
    assert told.num_speculative_tokens == 3


def test_what_the_client_read_itself_stays() -> None:
    release = ReleaseFactory.create()
    row = BenchmarkSegment(began_at=timezone.now(), ended_at=timezone.now())
    own = BenchmarkRun(speculation=RunSpeculation(acceptance_rate=0.5))
    assert with_acceptance(own, row, release) is own

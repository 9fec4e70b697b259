"""Kept pairs as data for a speed model."""

import pytest

from deployments.models import BenchmarkResult, Revision, TeamRole
from deployments.selectors.measured_speedups import measured_speedups
from deployments.telemetry.benchmarks.documents import run_document
from tests.benchmark_rows import BenchmarkResultFactory
from tests.factories import DeviceFactory, HostFactory, RevisionFactory, member
from tests.plan_values import revision_document
from tests.telemetry.benchmarks.blocks import block, runs

pytestmark = pytest.mark.django_db

OFF = block()
ON = block(throughput=1430, tpot=7, speculation=True)


@pytest.fixture
def revision() -> Revision:
    """A revision that drafts with MTP, on a host with one kind of device."""
    row = RevisionFactory.create(document=revision_document())
    DeviceFactory.create(host=HostFactory.create(cluster=row.deployment.cluster))
    return row


def kept(revision: Revision, *blocks: str) -> BenchmarkResult:
    return BenchmarkResultFactory.create(
        team=revision.deployment.cluster.team,
        deployment=revision.deployment,
        revision=revision,
        runs=[run_document(run) for run in runs(*blocks)],
    )


def test_a_pair_is_one_speedup_for_each_load(revision: Revision) -> None:
    user = member(revision.deployment.cluster.team, "vera", TeamRole.VIEWER)
    off, on = kept(revision, OFF), kept(revision, ON)
    (found,) = measured_speedups(user)
    assert (found.without, found.with_it) == (off.pk, on.pk)
    assert (found.model, found.method) == ("acme/target", "mtp")
    assert (found.num_speculative_tokens, found.concurrency) == (3, 8)
    assert found.speedup == pytest.approx(1.43)
    assert found.low < found.speedup < found.high
    assert found.assumed
    assert found.device == "NVIDIA H100 80GB HBM3"
    assert found.acceptance_rate == pytest.approx(0.7347, abs=1e-4)


def test_strangers_random_tokens_and_other_loads_give_nothing(
    revision: Revision,
) -> None:
    team = revision.deployment.cluster.team
    user = member(team, "vera", TeamRole.VIEWER)
    kept(revision, OFF)
    assert measured_speedups(user) == ()
    kept(revision, block(concurrency=64, throughput=900, speculation=True))
    kept(revision, "Namespace(dataset_name='random')\n" + ON)
    assert measured_speedups(user) == ()
    kept(revision, ON)
    assert len(measured_speedups(user)) == 1
    assert measured_speedups(member(BenchmarkResultFactory.create().team, "x")) == ()

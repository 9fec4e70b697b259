"""What was measured on one deployment, read for its next plan."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from deployments.models import Deployment, ReleaseState, Replica, Revision
from deployments.planning.measured import Measured
from deployments.planning.plan import Role
from deployments.selectors.measured_here import measured_here
from deployments.telemetry.benchmarks.documents import run_document
from tests.benchmark_rows import BenchmarkResultFactory
from tests.factories import (
    DayRollupFactory,
    DeploymentFactory,
    PlanFactory,
    RevisionFactory,
)
from tests.plan_rows import released, stored
from tests.plan_values import plan_value, revision_document
from tests.telemetry.benchmarks.blocks import block, runs

pytestmark = pytest.mark.django_db

DAY_S = 86_400
OFF = block()
ON = block(throughput=1430, tpot=7, speculation=True)


def kept(revision: Revision, *blocks: str) -> None:
    BenchmarkResultFactory.create(
        team=revision.deployment.cluster.team,
        deployment=revision.deployment,
        revision=revision,
        runs=[run_document(run) for run in runs(*blocks)],
    )


def here(deployment: Deployment) -> tuple[Measured, ...]:
    return measured_here(deployment.cluster, deployment.name)


def test_a_pair_is_a_measurement_with_its_day() -> None:
    revision = RevisionFactory.create(document=revision_document())
    kept(revision, OFF)
    kept(revision, ON)

    (found,) = here(revision.deployment)

    assert (found.model, found.method) == ("acme/target", "mtp")
    assert (found.num_speculative_tokens, found.concurrency) == (3, 8)
    assert (found.speedup, found.mean_acceptance_length) == (1430, 3204)
    assert found.day == timezone.now().astimezone(UTC).date().isoformat()
    assert found.deployment == revision.deployment.name


def test_a_method_that_the_planner_chose_is_read_from_the_plan() -> None:
    document = revision_document()
    document["speculation"] = {"method": "auto"}
    revision = RevisionFactory.create(document=document)
    PlanFactory.create(revision=revision, method="eagle3")
    kept(revision, OFF)
    kept(revision, ON)

    assert [one.method for one in here(revision.deployment)] == ["eagle3"]


def test_results_of_another_deployment_do_not_count() -> None:
    revision = RevisionFactory.create(document=revision_document())
    kept(revision, OFF)
    kept(revision, ON)
    other = DeploymentFactory.create(cluster=revision.deployment.cluster, name="other")

    assert here(other) == ()


def replica_of(role: str = "decode") -> Replica:
    deployment = DeploymentFactory.create()
    value = plan_value(name=deployment.name)
    release = released(stored(deployment, value), value, ReleaseState.LIVE)
    replica = release.replicas.get()
    replica.role = Role(role)
    replica.save()
    return replica


def midnight(days_ago: int) -> int:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((today - timedelta(days=days_ago)).timestamp())


def test_acceptance_is_that_of_full_days_on_which_enough_was_drafted() -> None:
    replica = replica_of()
    enough = {"accepted": 4060, "drafted": 6090, "num_drafts": 2030}
    DayRollupFactory.create(replica=replica, start_s=midnight(2), **enough)
    DayRollupFactory.create(replica=replica, start_s=midnight(1))
    DayRollupFactory.create(replica=replica, start_s=midnight(0), **enough)
    DayRollupFactory.create(replica=replica, start_s=midnight(9), **enough)

    (found,) = here(replica.release.deployment)

    assert (found.mean_acceptance_length, found.num_speculative_tokens) == (3000, 3)
    day = datetime.fromtimestamp(midnight(2), UTC).date().isoformat()
    assert (found.day, found.method, found.speedup) == (day, "mtp", None)


def test_prefill_is_left_out() -> None:
    replica = replica_of("prefill")
    DayRollupFactory.create(
        replica=replica,
        start_s=midnight(1),
        accepted=4060,
        drafted=6090,
        num_drafts=2030,
    )

    assert here(replica.release.deployment) == ()


def test_it_takes_two_queries() -> None:
    revision = RevisionFactory.create(document=revision_document())
    for _pair in range(3):
        kept(revision, OFF)
        kept(revision, ON)

    with CaptureQueriesContext(connection) as captured:
        here(revision.deployment)

    assert len(captured) == 2

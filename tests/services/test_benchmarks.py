"""Keeping results: roles, limits and whose deployment it is."""

import pytest
from django.db import IntegrityError, transaction

from deployments.models import MOST_KEPT_RUNS, TeamRole
from deployments.services.benchmarks import keep_result, remove_result
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.telemetry.benchmarks.documents import run_from_document
from tests.benchmark_rows import BenchmarkResultFactory
from tests.factories import (
    DeploymentFactory,
    TeamFactory,
    member,
)
from tests.telemetry.benchmarks.blocks import block, runs

pytestmark = pytest.mark.django_db


def test_what_is_kept_is_what_was_read() -> None:
    team = TeamFactory.create()
    read = runs(block(), block(speculation=True))
    user = member(team, "olga", TeamRole.OPERATOR)
    kept = keep_result(user, team, "a", read)
    kept.refresh_from_db()
    assert tuple(run_from_document(one) for one in kept.runs) == read
    assert (kept.run_count, str(kept)) == (2, "a")


def test_only_operators_keep_and_remove() -> None:
    kept = BenchmarkResultFactory.create()
    user = member(kept.team, "anna", TeamRole.ADMIN, TeamRole.APPROVER)
    with pytest.raises(NotAllowedError):
        keep_result(user, kept.team, "a", runs(block()))
    with pytest.raises(NotAllowedError):
        remove_result(user, kept)


def test_too_many_runs_and_foreign_deployments_are_refused() -> None:
    team = TeamFactory.create()
    user = member(team, "olga", TeamRole.OPERATOR)
    with pytest.raises(ConflictError, match="at most 200 runs"):
        keep_result(user, team, "a", runs(block()) * (MOST_KEPT_RUNS + 1))
    foreign = DeploymentFactory.create()
    with pytest.raises(ConflictError, match="another team"):
        keep_result(user, team, "a", runs(block()), measured=(foreign, None))


@pytest.mark.parametrize("count", [0, MOST_KEPT_RUNS + 1])
def test_the_database_bounds_the_runs(count: int) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        BenchmarkResultFactory.create(run_count=count)

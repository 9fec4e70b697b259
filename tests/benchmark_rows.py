"""Benchmark results for tests."""
# mypy: allow-untyped-calls

from factory.declarations import (
    LazyAttribute,
    LazyFunction,
    SelfAttribute,
    Sequence,
    SubFactory,
)
from factory.django import DjangoModelFactory

from deployments import models
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset
from deployments.planning.documents import to_document
from deployments.telemetry.benchmarks.documents import run_document
from deployments.telemetry.benchmarks.values import BenchmarkRun
from tests.factories import ReplicaFactory, TeamFactory, UserFactory


class BenchmarkResultFactory(DjangoModelFactory[models.BenchmarkResult]):
    """One run without speculation that a team keeps."""

    class Meta:
        model = models.BenchmarkResult

    team = SubFactory(TeamFactory)
    name = Sequence(lambda n: f"benchmark {n}")
    runs = LazyFunction(
        lambda: [
            run_document(
                BenchmarkRun(
                    output_tokens_per_s=1000.0,
                    requests_per_s=1.95,
                    mean_tpot_ms=10.0,
                    mean_itl_ms=10.0,
                    max_concurrency=8,
                )
            )
        ]
    )
    run_count = LazyAttribute(lambda row: len(row.runs))
    created_by = SubFactory(UserFactory)


class BenchmarkJobFactory(DjangoModelFactory[models.BenchmarkJob]):
    """A benchmark with shipped prompts that waits for a worker."""

    class Meta:
        model = models.BenchmarkJob

    replica = SubFactory(ReplicaFactory)
    host = SelfAttribute("replica.host")
    course = LazyFunction(lambda: to_document(Course(dataset=Dataset.CODE)))
    asked_by = SubFactory(UserFactory)
    idempotency_key = Sequence(lambda n: f"benchmark-{n}")


class BenchmarkSegmentFactory(DjangoModelFactory[models.BenchmarkSegment]):
    """One run that has not begun."""

    class Meta:
        model = models.BenchmarkSegment

    job = SubFactory(BenchmarkJobFactory)
    number = Sequence(lambda n: n + 1)
    repeat = 1
    concurrency = 4

"""Pairs of benchmarks for tests."""
# mypy: allow-untyped-calls

from factory.declarations import LazyFunction, SelfAttribute, Sequence, SubFactory
from factory.django import DjangoModelFactory

from deployments import models
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset
from deployments.planning.documents import to_document
from tests.factories import ApprovalRequestFactory, ReleaseFactory, UserFactory


class BenchmarkPairFactory(DjangoModelFactory[models.BenchmarkPair]):
    """A pair in turn whose baseline waits for votes."""

    class Meta:
        model = models.BenchmarkPair

    with_it = SubFactory(ReleaseFactory)
    deployment = SelfAttribute("with_it.deployment")
    request = SubFactory(ApprovalRequestFactory, plan=SelfAttribute("..with_it.plan"))
    course = LazyFunction(lambda: to_document(Course(dataset=Dataset.CODE)))
    state = models.PairState.APPROVAL
    asked_by = SubFactory(UserFactory)
    idempotency_key = Sequence(lambda n: f"pair-{n}")

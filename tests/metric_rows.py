"""What was read from engines' counters, for tests."""
# mypy: allow-untyped-calls

from factory.declarations import SelfAttribute, Sequence, SubFactory
from factory.django import DjangoModelFactory

from deployments import models
from tests.factories import DeploymentFactory, ReplicaFactory, UserFactory


class CounterCursorFactory(DjangoModelFactory[models.CounterCursor]):
    """A run of a container of which nothing was counted yet."""

    class Meta:
        model = models.CounterCursor

    replica = SubFactory(ReplicaFactory)
    container_id = Sequence(lambda n: f"{n:064x}")
    run_started_at = "2026-10-26T12:36:16.000000001Z"


class ServingMinuteFactory(DjangoModelFactory[models.ServingMinute]):
    """A minute with one scrape and 600 tokens."""

    class Meta:
        model = models.ServingMinute

    replica = SubFactory(ReplicaFactory)
    deployment = SelfAttribute("replica.release.deployment")
    start_s = Sequence(lambda n: 1_793_016_000 + 60 * n)
    scrapes = 1
    generated = 600


class ServingHourFactory(ServingMinuteFactory):
    """The same, of an hour."""

    class Meta:
        model = models.ServingHour


class ServingDayFactory(ServingMinuteFactory):
    """The same, of a day."""

    class Meta:
        model = models.ServingDay


class FileLogFactory(DjangoModelFactory[models.FileLog]):
    """A deployment whose engines log to a file."""

    class Meta:
        model = models.FileLog

    deployment = SubFactory(DeploymentFactory)
    path = "/workspace/logs/decode_rank0.log"
    set_by = SubFactory(UserFactory)


class FileLogCursorFactory(DjangoModelFactory[models.FileLogCursor]):
    """A run of a container of whose file nothing was read yet."""

    class Meta:
        model = models.FileLogCursor

    replica = SubFactory(ReplicaFactory)
    container_id = Sequence(lambda n: f"{n:064x}")
    run_started_at = "2026-10-26T12:36:16.000000001Z"
    path = "/workspace/logs/decode_rank0.log"

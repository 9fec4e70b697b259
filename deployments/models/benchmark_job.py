"""Benchmarks that the panel carries out next to a service, and the journal of their runs."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.benchmark import BenchmarkResult
from deployments.models.fleet import Host
from deployments.models.release import Replica
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class BenchmarkState(models.TextChoices):
    """Where a benchmark stands; the last three are its end."""

    WAITING = "waiting", _("Waiting for a worker")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


OPEN_BENCHMARKS = (BenchmarkState.WAITING, BenchmarkState.RUNNING)


class BenchmarkJob(Row):
    """What somebody asked to measure on a live replica.

    ``course`` is a ``planning.bench.course.Course``, ``prompts`` the JSON lines of a team's own dataset.
    ``host`` is the replica's: two benchmarks on one host would measure each other. ``cause`` says why it
    failed, ``lines`` are the last that the client printed then. ``result`` is what the team keeps of it.
    """

    TEAM_PATH = "replica__release__deployment__team"

    replica = models.ForeignKey(
        Replica, on_delete=models.PROTECT, related_name="benchmark_jobs"
    )
    host = models.ForeignKey(
        Host, on_delete=models.PROTECT, related_name="benchmark_jobs"
    )
    course = models.JSONField()
    prompts = models.TextField(blank=True, default="")
    state = models.CharField(
        max_length=10, choices=BenchmarkState.choices, default=BenchmarkState.WAITING
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    idempotency_key = models.CharField(max_length=64, unique=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cause = SentenceField(blank=True, default="")
    lines = models.JSONField(default=list, blank=True)
    result = models.OneToOneField(
        BenchmarkResult,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="job",
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="benchmark_job_state_known",
                condition=Q(state__in=BenchmarkState.values),
            ),
            models.UniqueConstraint(
                fields=["host"],
                condition=Q(state__in=OPEN_BENCHMARKS),
                name="one_benchmark_a_host",
            ),
            models.CheckConstraint(
                name="benchmark_failure_has_cause",
                condition=~Q(state=BenchmarkState.FAILED) | ~Q(cause=""),
            ),
        ]

    def __str__(self) -> str:
        return f"benchmark of {self.replica}"


class SegmentState(models.TextChoices):
    """Where one run of the client stands."""

    WAITING = "waiting", _("Not yet")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")


class BenchmarkSegment(Row):
    """One run of ``vllm bench serve``: ``number`` is its place in the course.

    ``container_id`` is the client's container while it runs; ``run`` is what it measured, a
    ``telemetry.benchmarks.documents.run_document``.
    """

    TEAM_PATH = "job__replica__release__deployment__team"

    job = models.ForeignKey(
        BenchmarkJob, on_delete=models.CASCADE, related_name="segments"
    )
    number = models.PositiveSmallIntegerField()
    repeat = models.PositiveSmallIntegerField()
    concurrency = models.PositiveIntegerField()
    state = models.CharField(
        max_length=8, choices=SegmentState.choices, default=SegmentState.WAITING
    )
    container_id = models.CharField(max_length=64, blank=True, default="")
    began_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    run = models.JSONField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["job", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["job", "number"], name="benchmark_segment_once"
            ),
            models.CheckConstraint(
                name="benchmark_segment_state_known",
                condition=Q(state__in=SegmentState.values),
            ),
            models.CheckConstraint(
                name="benchmark_segment_done_has_run",
                condition=~Q(state=SegmentState.DONE) | Q(run__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job}, {self.number}"

"""Benchmark results that a team keeps."""

from django.conf import settings
from django.db import models

from deployments.models.base import Row
from deployments.models.deployment import Deployment, Revision
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team

MOST_KEPT_RUNS = 200


class BenchmarkResult(Row):
    """The runs of one file or paste, as ``telemetry.benchmarks.documents`` writes them.

    A result is never edited, so that an address that compares results says the same for ever.
    ``deployment`` and ``revision`` are what was measured, where somebody named it.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="benchmark_results"
    )
    name = models.CharField(max_length=80)
    runs = models.JSONField()
    run_count = models.PositiveIntegerField()
    deployment = models.ForeignKey(
        Deployment,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="benchmark_results",
    )
    revision = models.ForeignKey(
        Revision,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="benchmark_results",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(fields=["team", "-created_at"], name="benchmark_by_team"),
        ]
        constraints = [
            models.CheckConstraint(
                name="benchmark_run_count_bounded",
                condition=models.Q(run_count__gte=1, run_count__lte=MOST_KEPT_RUNS),
            ),
        ]

    def __str__(self) -> str:
        return self.name

"""What was read from the replicas: log cursors, gaps and acceptance samples."""

from django.db import models
from django.db.models import F, Q

from deployments.models.base import Row
from deployments.models.deployment import Deployment
from deployments.models.release import Replica
from deployments.models.scope import ScopedQuerySet


class LogCursor(Row):
    """How far one stream of one run of a container was read.

    A run is (container id, StartedAt). ``timestamp_ns`` is the engine's time stamp of the last line
    read, ``line_hash`` the SHA-256 of that line, seen again on the next poll as proof that nothing
    is missing; ``same_timestamp`` counts the lines read with that very time stamp.
    ``measured_bytes`` came since ``measured_from``; ``bytes_per_s`` is what the measure before that
    made, ``kept_bytes`` how much the engine keeps of both streams. ``None`` is not measured.
    """

    TEAM_PATH = "replica__release__deployment__team"

    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="cursors"
    )
    container_id = models.CharField(max_length=64)
    run_started_at = models.CharField(max_length=40)
    stream = models.CharField(max_length=6)
    timestamp_ns = models.BigIntegerField(default=0)
    line_hash = models.CharField(max_length=64, blank=True, default="")
    same_timestamp = models.PositiveIntegerField(default=0)
    lines_read = models.BigIntegerField(default=0)
    read_at = models.DateTimeField(null=True, blank=True)
    finished = models.BooleanField(default=False)
    measured_from = models.DateTimeField(null=True, blank=True)
    measured_bytes = models.BigIntegerField(default=0)
    bytes_per_s = models.FloatField(null=True, blank=True)
    kept_bytes = models.BigIntegerField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["container_id", "run_started_at", "stream"],
                name="cursor_once",
            ),
            models.CheckConstraint(
                name="cursor_stream_known", condition=Q(stream__in=["stdout", "stderr"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica} {self.stream}"


class LogGap(Row):
    """Lines that the engine had thrown away before they were read, from and to in nanoseconds."""

    TEAM_PATH = "replica__release__deployment__team"

    replica = models.ForeignKey(Replica, on_delete=models.CASCADE, related_name="gaps")
    container_id = models.CharField(max_length=64)
    from_ns = models.BigIntegerField()
    to_ns = models.BigIntegerField()
    reason = models.CharField(max_length=40)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["from_ns"]
        constraints = [
            models.UniqueConstraint(
                fields=["container_id", "from_ns", "to_ns"], name="gap_once"
            ),
            models.CheckConstraint(
                name="gap_forward", condition=Q(to_ns__gte=F("from_ns"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica}: {self.reason}"


class AcceptanceSample(Row):
    """Drafted and accepted counts of one replica over one window; ratios are computed when read.

    ``timestamp_ns`` is the engine's time stamp of the log line, ``sequence`` its place among lines
    of that time stamp. ``per_position`` lists accepted counts by draft position. ``num_drafts`` and
    ``window_s`` are ``None`` when the line does not say. ``rolled_up`` says that the roll-ups hold
    it: it is set in the transaction that adds it to them, so a sample is in exactly one place.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.ForeignKey(
        Deployment, on_delete=models.CASCADE, related_name="samples"
    )
    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="samples"
    )
    container_id = models.CharField(max_length=64)
    run_started_at = models.CharField(max_length=40)
    stream = models.CharField(max_length=6)
    timestamp_ns = models.BigIntegerField()
    sequence = models.PositiveIntegerField()
    engine_index = models.PositiveIntegerField(null=True, blank=True)
    accepted = models.BigIntegerField()
    drafted = models.BigIntegerField()
    num_drafts = models.BigIntegerField(null=True, blank=True)
    per_position = models.JSONField(default=list, blank=True)
    num_speculative_tokens = models.PositiveIntegerField(null=True, blank=True)
    window_s = models.FloatField(null=True, blank=True)
    rolled_up = models.BooleanField(default=False, db_default=False)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["timestamp_ns", "sequence"]
        indexes = [
            models.Index(fields=["deployment", "timestamp_ns"], name="sample_by_time"),
            models.Index(
                fields=["deployment", "timestamp_ns"],
                condition=Q(rolled_up=False),
                name="sample_to_roll_up",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "container_id",
                    "run_started_at",
                    "stream",
                    "timestamp_ns",
                    "sequence",
                ],
                name="sample_once",
            ),
            models.CheckConstraint(
                name="sample_accepted_within_drafted",
                condition=Q(accepted__gte=0, drafted__gte=F("accepted")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica}: {self.accepted} of {self.drafted}"

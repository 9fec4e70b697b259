"""Logs that an engine writes to a file in its container instead of standard output."""

from django.conf import settings
from django.db import models

from deployments.models.base import Row
from deployments.models.deployment import Deployment
from deployments.models.release import Replica
from deployments.models.scope import ScopedQuerySet

LONGEST_PATH = 300


def path_in(path: str, role: str, rank: int) -> str:
    """The path in the container of one replica, such as ``/logs/decode_rank0.log``."""
    return path.replace("{role}", role).replace("{rank}", str(rank))


class FileLog(Row):
    """Where the engines of a deployment log to; what the panel plans logs to standard output.

    ``path`` is absolute; ``{role}`` and ``{rank}`` in it stand for those of a replica, so that each
    container may have a path of its own.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.OneToOneField(
        Deployment, on_delete=models.CASCADE, related_name="file_log"
    )
    path = models.CharField(max_length=LONGEST_PATH)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="file_log_path_absolute",
                condition=models.Q(path__startswith="/"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment}: {self.path}"


class FileLogCursor(Row):
    """How far the log file of one run of a container was read.

    ``offset`` is in bytes; the hashes are SHA-256 of the file's first bytes and of those read last,
    by which another file in its place is recognised. ``size`` and ``modified_ns`` are those of the
    last look, ``newest_ns`` the time of the newest line. ``zone_s`` is how far the stamps in the
    file are ahead of UTC, once known. ``problem`` says why nothing can be read. ``turn`` counts
    reads, so that of two readers one stores nothing.
    """

    TEAM_PATH = "replica__release__deployment__team"

    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="file_cursors"
    )
    container_id = models.CharField(max_length=64)
    run_started_at = models.CharField(max_length=40)
    path = models.CharField(max_length=LONGEST_PATH)
    offset = models.BigIntegerField(default=0)
    head_hash = models.CharField(max_length=64, blank=True, default="")
    tail_hash = models.CharField(max_length=64, blank=True, default="")
    size = models.BigIntegerField(default=0)
    modified_ns = models.BigIntegerField(default=0)
    newest_ns = models.BigIntegerField(default=0)
    zone_s = models.IntegerField(null=True, blank=True)
    lines_read = models.BigIntegerField(default=0)
    read_at = models.DateTimeField(null=True, blank=True)
    finished = models.BooleanField(default=False)
    problem = models.CharField(max_length=16, blank=True, default="")
    turn = models.PositiveIntegerField(default=0)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["container_id", "run_started_at"], name="file_log_cursor_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica} {self.path}"

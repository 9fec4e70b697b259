"""What people want to see of a log, and the short tail that a worker holds for them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.release import Replica
from deployments.models.scope import ScopedQuerySet

MOST_TAIL_LINES = 1000


class LogRun(models.TextChoices):
    """Which run of a container: the one since its last start, or the one before that."""

    CURRENT = "current", _("Current run")
    PREVIOUS = "previous", _("Previous run")


class LogRequest(Row):
    """Somebody looks at the log of a replica until ``wanted_until``; looking on moves that time."""

    TEAM_PATH = "replica__release__deployment__team"

    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="log_requests"
    )
    run = models.CharField(max_length=8, choices=LogRun.choices, default=LogRun.CURRENT)
    wanted_until = models.DateTimeField(db_index=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["replica", "run"], name="log_request_once"),
            models.CheckConstraint(
                name="log_request_run_known", condition=Q(run__in=LogRun.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica} {self.run}"


class LogTail(Row):
    """The newest lines that a worker read for a request, at most ``MOST_TAIL_LINES``.

    ``lines`` lists [number, engine time stamp in nanoseconds, stream, text, was cut]; numbers count
    up from 1 for as long as the row lives and ``newest`` is the last one. ``cursors`` are how far
    each stream was read. ``turn`` counts the reads: whoever stores compares it, so that the slower
    of two readers stores nothing. ``problem`` is a code, empty while the log can be read.
    """

    TEAM_PATH = "request__replica__release__deployment__team"

    request = models.OneToOneField(
        LogRequest, on_delete=models.CASCADE, related_name="tail"
    )
    container_id = models.CharField(max_length=64, blank=True, default="")
    run_started_at = models.CharField(max_length=40, blank=True, default="")
    cursors = models.JSONField(default=dict, blank=True)
    lines = models.JSONField(default=list, blank=True)
    line_count = models.PositiveIntegerField(default=0)
    newest = models.PositiveBigIntegerField(default=0)
    turn = models.PositiveBigIntegerField(default=0)
    ended = models.BooleanField(default=False)
    problem = models.CharField(max_length=24, blank=True, default="")
    filled_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="log_tail_bounded",
                condition=Q(line_count__lte=MOST_TAIL_LINES),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request}: {self.line_count}"

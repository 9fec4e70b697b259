"""Alarms: what speculation does that nobody wants, from when until when, and who knows of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.deployment import Deployment
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class AlarmKind(models.TextChoices):
    """What is wrong, worst first."""

    SILENT_ZERO = "silent_zero", _("Nothing accepted")
    NO_DRAFTS = "no_drafts", _("Traffic without drafts")
    BELOW_BAND = "below_band", _("Below the usual rate")
    DROP = "drop", _("Fell against its own week")
    ALL_ACCEPTED = "all_accepted", _("Everything accepted")
    POSITIONS = "positions", _("Later positions accepted more often")
    DISAGREEMENT = "disagreement", _("Log and counters disagree")
    GAP = "gap", _("Log lines lost")
    LOG_RATE = "log_rate", _("Log grows too fast")
    CLOCK = "clock", _("Clock of a host is off")


class AlarmEnd(models.TextChoices):
    """Why an alarm closed."""

    RECOVERED = "recovered", _("Recovered")
    STOPPED = "stopped", _("Nothing runs any more")
    SILENT = "silent", _("Nothing is heard any more")
    REPLACED = "replaced", _("Another release runs")


class Alarm(Row):
    """One thing wrong with one deployment; at most one of a kind is open.

    ``text`` explains it with its numbers, ``evidence`` holds them for machines, with the window
    in seconds, the threshold and the source. ``better_since`` is when it began to look well
    again: it closes when that lasted. ``release_number`` is what ran.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.ForeignKey(
        Deployment, on_delete=models.CASCADE, related_name="alarms"
    )
    kind = models.CharField(max_length=16, choices=AlarmKind.choices)
    release_number = models.PositiveIntegerField()
    opened_at = models.DateTimeField()
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    better_since = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_because = models.CharField(
        max_length=10, choices=AlarmEnd.choices, blank=True, default=""
    )
    text = SentenceField(blank=True, default="")
    evidence = models.JSONField(default=dict, blank=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=500, blank=True, default="")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-opened_at"]
        indexes = [
            models.Index(fields=["deployment", "opened_at"], name="alarm_by_time"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "kind"],
                condition=Q(closed_at__isnull=True),
                name="alarm_open_once",
            ),
            models.CheckConstraint(
                name="alarm_kind_known", condition=Q(kind__in=AlarmKind.values)
            ),
            models.CheckConstraint(
                name="alarm_end_known",
                condition=Q(closed_because__in=["", *AlarmEnd.values]),
            ),
            models.CheckConstraint(
                name="alarm_closed_has_reason",
                condition=Q(closed_at__isnull=True, closed_because="")
                | Q(closed_at__isnull=False) & ~Q(closed_because=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment}: {self.kind}"

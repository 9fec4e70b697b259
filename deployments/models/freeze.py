"""Freeze windows of teams and clusters: ended, never changed or removed."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.fleet import Cluster
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class FreezeKind(models.TextChoices):
    """The kinds of ``planning.freezing``."""

    DENY = "deny", _("Nothing new may start")
    ALLOW = "allow", _("Only then may something start")


class FreezeRepeat(models.TextChoices):
    """How often ``planning.freezing`` lets a window come back."""

    ONCE = "once", _("Once")
    DAILY = "daily", _("Every day")
    WEEKLY = "weekly", _("Every week")
    MONTHLY = "monthly", _("Every month")
    YEARLY = "yearly", _("Every year")


class FreezeWindow(Row):
    """A ``planning.freezing.Window`` of one cluster, or of all clusters of the team.

    ``first_day`` and ``begins`` are the wall clock of ``time_zone``; it lasts ``minutes``.
    ``weekdays`` are numbers from Monday, 0. A window that was ended still holds for requests
    that were made while it held.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="freeze_windows"
    )
    cluster = models.ForeignKey(
        Cluster,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="freeze_windows",
    )
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=8, choices=FreezeKind.choices)
    time_zone = models.CharField(max_length=64)
    first_day = models.DateField()
    begins = models.TimeField()
    minutes = models.PositiveIntegerField()
    repeat = models.CharField(max_length=8, choices=FreezeRepeat.choices)
    weekdays = models.JSONField(default=list, blank=True)
    last_day = models.DateField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["name", "created_at"]
        constraints = [
            models.CheckConstraint(
                name="freeze_kind_known", condition=Q(kind__in=FreezeKind.values)
            ),
            models.CheckConstraint(
                name="freeze_repeat_known", condition=Q(repeat__in=FreezeRepeat.values)
            ),
            models.CheckConstraint(
                name="freeze_lasts", condition=Q(minutes__gte=1, minutes__lte=44640)
            ),
            models.CheckConstraint(
                name="freeze_end_has_person",
                condition=Q(ended_at__isnull=True, ended_by__isnull=True)
                | Q(ended_at__isnull=False, ended_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

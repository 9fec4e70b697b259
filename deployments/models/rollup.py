"""Acceptance added up: roll-ups of one minute, one hour and one day, and how a deployment stands."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.deployment import Deployment
from deployments.models.release import Replica
from deployments.models.scope import ScopedQuerySet

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400


class Rollup(models.Model):
    """Sums of the windows of one replica that were printed in (start, start + step].

    ``start_s`` is in seconds since 1970, a multiple of the step. ``positions`` is the length of
    ``per_position`` of every window in it: windows of other lengths have their own row, so rows add
    up to what the windows add up to. ``num_drafts`` is ``None`` when one of them did not say it.
    The key is a number, for these rows stand in no address and there are many of them.
    """

    TEAM_PATH = "deployment__team"
    STEP_S: int

    id = models.BigAutoField(primary_key=True)
    deployment = models.ForeignKey(
        Deployment, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    start_s = models.BigIntegerField()
    positions = models.PositiveSmallIntegerField()
    accepted = models.BigIntegerField()
    drafted = models.BigIntegerField()
    num_drafts = models.BigIntegerField(null=True)
    per_position = models.JSONField(default=list, blank=True)
    windows = models.PositiveIntegerField()
    newest_ns = models.BigIntegerField()

    objects = ScopedQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["start_s"]
        indexes = [
            models.Index(fields=["deployment", "start_s"], name="%(class)s_by_time"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["replica", "start_s", "positions"], name="%(class)s_once"
            ),
            models.CheckConstraint(
                name="%(class)s_accepted_within_drafted",
                condition=Q(accepted__gte=0, drafted__gte=F("accepted")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica} {self.start_s}: {self.accepted} of {self.drafted}"


class MinuteRollup(Rollup):
    """One replica's windows of one minute."""

    STEP_S = MINUTE_S


class HourRollup(Rollup):
    """One replica's windows of one hour."""

    STEP_S = HOUR_S


class DayRollup(Rollup):
    """One replica's windows of one day, UTC."""

    STEP_S = DAY_S


class RollupRound(Row):
    """The only row of its table: who holds its lock adds samples up; ``rolled_at`` is the last time."""

    only = models.BooleanField(default=True, unique=True, editable=False)
    rolled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="rollup_round_only", condition=Q(only=True)),
        ]

    def __str__(self) -> str:
        return f"rolled up at {self.rolled_at}"


class Standing(models.TextChoices):
    """How acceptance stands, worst first; ``stale`` is decided when read, by the age of the data."""

    ZERO = "zero", _("Nothing accepted")
    STALE = "stale", _("No data")
    LOW = "low", _("Low")
    NORMAL = "normal", _("Normal")
    HEALTHY = "healthy", _("Healthy")
    NOT_COMPARABLE = "not_comparable", _("Not judged")
    TOO_FEW = "too_few", _("Too few drafts")
    NO_DATA = "no_data", _("No traffic")
    OFF = "off", _("Drafts nothing")


class AcceptanceStanding(Row):
    """How one deployment's acceptance stood when it was last judged, from its roll-ups.

    The counts are those of the last 24 hours by full hours, ``before_`` those of the seven full
    days (UTC) before today. ``course`` is the mean acceptance length of each hour, null where
    nothing was drafted. ``heard_at`` is the newest sample or the newest look at the logs of what is
    live. ``judged_at`` is empty when something came in since.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.OneToOneField(
        Deployment, on_delete=models.CASCADE, related_name="standing"
    )
    verdict = models.CharField(
        max_length=16, choices=Standing.choices, default=Standing.NO_DATA
    )
    accepted = models.BigIntegerField(default=0)
    drafted = models.BigIntegerField(default=0)
    num_drafts = models.BigIntegerField(null=True, blank=True)
    per_position = models.JSONField(default=list, blank=True)
    course = models.JSONField(default=list, blank=True)
    before_accepted = models.BigIntegerField(default=0)
    before_num_drafts = models.BigIntegerField(null=True, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    pruned_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["judged_at"], name="standing_by_judgement"),
            models.Index(fields=["pruned_at"], name="standing_by_pruning"),
        ]
        constraints = [
            models.CheckConstraint(
                name="standing_verdict_known", condition=Q(verdict__in=Standing.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment}: {self.verdict}"

"""What was read from the engines' counters, and how serving went by minute, hour and day."""

from django.db import models

from deployments.models.base import Row
from deployments.models.deployment import Deployment
from deployments.models.release import Replica
from deployments.models.rollup import DAY_S, HOUR_S, MINUTE_S
from deployments.models.scope import ScopedQuerySet


class CounterCursor(Row):
    """How far the counters and the log of one run of a container were counted.

    Both tell of the same tokens, so what is stored as samples grows only as far as the one that
    is ahead: ``counted`` is the sum of the samples, ``read`` what the counters added since the
    run began, ``logged`` the sum of the printed windows; each lists accepted, drafted, drafts
    (null when unknown) and accepted by position. ``engines`` holds the last scrape by engine.
    ``scraped_ns`` is the host's time of the last scrape; ``epoch`` counts counters that began
    anew within the run. ``lines_lost`` says that ``logged`` misses lines. ``differs`` holds both
    sums while log and counters tell different things.
    """

    TEAM_PATH = "replica__release__deployment__team"

    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="counter_cursors"
    )
    container_id = models.CharField(max_length=64)
    run_started_at = models.CharField(max_length=40)
    engines = models.JSONField(default=dict, blank=True)
    counted = models.JSONField(default=list, blank=True)
    read = models.JSONField(default=list, blank=True)
    logged = models.JSONField(default=list, blank=True)
    adopted = models.BooleanField(default=False)
    scraped_ns = models.BigIntegerField(default=0)
    epoch = models.PositiveIntegerField(default=0)
    process_started = models.FloatField(null=True, blank=True)
    lines_lost = models.BooleanField(default=False)
    problem = models.CharField(max_length=16, blank=True, default="")
    problem_since = models.DateTimeField(null=True, blank=True)
    differs = models.JSONField(default=dict, blank=True)
    differs_since = models.DateTimeField(null=True, blank=True)
    speculates = models.BooleanField(null=True, blank=True)
    output_from = models.CharField(max_length=60, blank=True, default="")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["container_id", "run_started_at"], name="counter_cursor_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica} {self.run_started_at}"


class Serving(models.Model):
    """How one replica served in (start, start + step]: sums over its scrapes and its engines.

    Gauges are added up by scrape with their largest value beside; ``cache_scrapes`` counts the
    scrapes that said how full the cache was, from 0 to 1. Histograms are
    ``{"sum": s, "count": n, "le": {upper bound: n}}``, each observation in one bucket only.
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
    scrapes = models.PositiveIntegerField(default=0)
    running_sum = models.FloatField(default=0)
    running_most = models.FloatField(default=0)
    waiting_sum = models.FloatField(default=0)
    waiting_most = models.FloatField(default=0)
    cache_scrapes = models.PositiveIntegerField(default=0)
    cache_sum = models.FloatField(default=0)
    cache_most = models.FloatField(default=0)
    generated = models.BigIntegerField(default=0)
    prompted = models.BigIntegerField(default=0)
    requests = models.BigIntegerField(default=0)
    preemptions = models.BigIntegerField(default=0)
    restarts = models.PositiveIntegerField(default=0)
    first_token = models.JSONField(default=dict, blank=True)
    output_token = models.JSONField(default=dict, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["start_s"]
        indexes = [
            models.Index(fields=["deployment", "start_s"], name="%(class)s_by_time"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["replica", "start_s"], name="%(class)s_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.replica} {self.start_s}: {self.generated} tokens"


class ServingMinute(Serving):
    """One replica's serving in one minute."""

    STEP_S = MINUTE_S


class ServingHour(Serving):
    """One replica's serving in one hour."""

    STEP_S = HOUR_S


class ServingDay(Serving):
    """One replica's serving in one day, UTC."""

    STEP_S = DAY_S

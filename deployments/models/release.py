"""Releases, their replicas, their bookings, and the journal of what was done."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.deployment import Deployment, Plan
from deployments.models.fleet import Host
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class ReleaseState(models.TextChoices):
    """Where a release stands (design section 6)."""

    QUEUED = "queued", _("Queued")
    PREFLIGHT = "preflight", _("Checking the hosts")
    PULLING = "pulling", _("Getting the image")
    CREATING = "creating", _("Creating containers")
    STARTING = "starting", _("Starting")
    VERIFYING = "verifying", _("Verifying")
    LIVE = "live", _("Live")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    ROLLED_BACK = "rolled_back", _("Rolled back")
    BLOCKED = "blocked", _("Blocked: a person must act")
    STOPPING = "stopping", _("Stopping")
    STOPPED = "stopped", _("Stopped")


CHANGING_STATES = (
    ReleaseState.QUEUED,
    ReleaseState.PREFLIGHT,
    ReleaseState.PULLING,
    ReleaseState.CREATING,
    ReleaseState.STARTING,
    ReleaseState.VERIFYING,
    ReleaseState.STOPPING,
)
FINAL_STATES = (
    ReleaseState.FAILED,
    ReleaseState.CANCELLED,
    ReleaseState.ROLLED_BACK,
    ReleaseState.STOPPED,
)


class Release(Row):
    """One execution of one approved plan.

    ``cause_code``, ``cause`` and ``next_action`` say why it is not live; ``warning`` is shown beside
    a live release, such as one whose speculation is silently off. ``deadline_at`` ends the state.
    ``queued_at`` is when it began to wait for what others held, by the database's clock; ``None``
    for one that found everything free.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="releases"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="releases")
    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.PROTECT, related_name="releases"
    )
    number = models.PositiveIntegerField()
    state = models.CharField(
        max_length=12, choices=ReleaseState.choices, default=ReleaseState.QUEUED
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    replaces = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    state_since = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    live_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cause_code = models.CharField(max_length=60, blank=True, default="")
    cause = SentenceField(blank=True, default="")
    next_action = SentenceField(blank=True, default="")
    warning = SentenceField(blank=True, default="")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["created_at", "id"], name="release_by_time"),
            models.Index(fields=["state_since"], name="release_by_change"),
        ]
        constraints = [
            models.CheckConstraint(
                name="release_state_known", condition=Q(state__in=ReleaseState.values)
            ),
            models.UniqueConstraint(
                fields=["deployment", "number"], name="release_number_once"
            ),
            models.UniqueConstraint(
                fields=["deployment"],
                condition=Q(state__in=CHANGING_STATES),
                name="one_changing_release",
            ),
            models.UniqueConstraint(
                fields=["deployment"],
                condition=Q(state=ReleaseState.LIVE),
                name="one_live_release",
            ),
            models.CheckConstraint(
                name="release_failure_has_cause",
                condition=~Q(state__in=[ReleaseState.FAILED, ReleaseState.BLOCKED])
                | ~Q(cause=""),
            ),
            models.CheckConstraint(
                name="release_live_has_time",
                condition=~Q(state=ReleaseState.LIVE) | Q(live_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        said = gettext("%(name)s release %(number)s")
        return said % {"name": self.deployment, "number": self.number}


class ReplicaState(models.TextChoices):
    """What was last observed of the replica's container."""

    PLANNED = "planned", _("Planned")
    CREATED = "created", _("Created")
    RUNNING = "running", _("Running")
    EXITED = "exited", _("Exited")
    REMOVED = "removed", _("Removed")
    UNKNOWN = "unknown", _("Unknown")


class DriftKind(models.TextChoices):
    """How a container differs from what its release says of it."""

    STOPPED = "stopped", _("Not running")
    REMOVED = "removed", _("Removed")
    REPLACED = "replaced", pgettext_lazy("of a container", "Replaced")
    RENAMED = "renamed", _("Renamed")
    CHANGED = "changed", pgettext_lazy("of a container", "Changed")
    PAUSED = "paused", _("Paused")
    STARTED = "started", _("Running, though it ended")


STOPPED = "stopped"
_ENDED_BY_REQUEST = (
    ReleaseState.STOPPING,
    ReleaseState.STOPPED,
    ReleaseState.CANCELLED,
)
_ASKED_TO = (0, 137, 143)
"""Exit codes of a process that obeyed SIGTERM, or was killed after the grace period."""


class Replica(Row):
    """One container of a release on one host.

    ``drift`` is how it was last seen to differ from what the release says, empty for not at all;
    ``drift_text`` says it in a sentence, ``drift_action`` what a person does about it. ``canary``
    drafts in another way than the plan's own, so its counts are no part of what judges that.
    """

    TEAM_PATH = "release__deployment__team"

    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="replicas"
    )
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="replicas")
    role = models.CharField(max_length=10)
    rank = models.PositiveIntegerField()
    canary = models.BooleanField(default=False, db_default=False)
    container_name = models.CharField(max_length=63)
    container_id = models.CharField(max_length=64, blank=True, default="")
    image_id = models.CharField(max_length=80, blank=True, default="")
    state = models.CharField(
        max_length=10, choices=ReplicaState.choices, default=ReplicaState.PLANNED
    )
    exit_code = models.IntegerField(null=True, blank=True)
    started_at = models.CharField(max_length=40, blank=True, default="")
    observed_at = models.DateTimeField(null=True, blank=True)
    ready = models.BooleanField(default=False)
    verified_method = models.CharField(max_length=24, blank=True, default="")
    verified_num_speculative_tokens = models.PositiveIntegerField(null=True, blank=True)
    drift = models.CharField(
        max_length=10, choices=DriftKind.choices, blank=True, default=""
    )
    drift_text = SentenceField(blank=True, default="")
    drift_action = SentenceField(blank=True, default="")
    drift_since = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["release", "role", "rank"]
        indexes = [
            models.Index(
                fields=["release"], condition=~Q(drift=""), name="replica_drifted"
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "role", "rank"], name="replica_once"
            ),
            models.CheckConstraint(
                name="replica_state_known", condition=Q(state__in=ReplicaState.values)
            ),
            models.CheckConstraint(
                name="replica_drift_is_said",
                condition=Q(drift="", drift_since__isnull=True)
                | Q(drift__in=DriftKind.values, drift_since__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.container_name

    @property
    def shown_state(self) -> str:
        """The state as people read it: ``stopped`` for one that ended because it was asked to."""
        asked = self.release.state in _ENDED_BY_REQUEST
        if self.state == ReplicaState.EXITED and asked and self.exit_code in _ASKED_TO:
            return STOPPED
        return self.state


class Booking(Row):
    """A device or a port of a host, held by a replica until its container is seen gone."""

    TEAM_PATH = "host__cluster__team"

    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="bookings")
    replica = models.ForeignKey(
        Replica, on_delete=models.PROTECT, related_name="bookings"
    )
    device = models.PositiveSmallIntegerField(null=True, blank=True)
    port = models.PositiveIntegerField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["host", "device", "port"]
        constraints = [
            models.UniqueConstraint(
                fields=["host", "device"],
                condition=Q(released_at__isnull=True, device__isnull=False),
                name="device_booked_once",
            ),
            models.UniqueConstraint(
                fields=["host", "port"],
                condition=Q(released_at__isnull=True, port__isnull=False),
                name="port_booked_once",
            ),
            models.CheckConstraint(
                name="booking_is_device_or_port",
                condition=Q(device__isnull=True, port__isnull=False)
                | Q(device__isnull=False, port__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        what = f"device {self.device}" if self.port is None else f"port {self.port}"
        return f"{self.host} {what}"


class EventKind(models.TextChoices):
    """Intent is written before an outside act, outcome after it; notes are neither."""

    INTENT = "intent", _("About to")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    NOTE = "note", _("Note")


class ReleaseEvent(Row):
    """One line of a release's journal, for people and for the executor that resumes.

    ``step`` is one of QUEUE, VALIDATE, BOOK, PULL, STOP_OLD, CREATE, START, WAIT_READY, SMOKE, SWITCH,
    REMOVE_OLD, STOP, REMOVE, EMERGENCY. ``detail`` holds machine facts (container id, bytes pulled).
    """

    TEAM_PATH = "release__deployment__team"

    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="events"
    )
    replica = models.ForeignKey(
        Replica, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    sequence = models.PositiveIntegerField()
    step = models.CharField(max_length=16)
    kind = models.CharField(max_length=8, choices=EventKind.choices)
    message = SentenceField(blank=True, default="")
    detail = models.JSONField(default=dict, blank=True)
    fence = models.PositiveIntegerField(default=0)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["release", "sequence"]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "sequence"], name="event_sequence_once"
            ),
            models.CheckConstraint(
                name="event_kind_known", condition=Q(kind__in=EventKind.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.step} {self.kind}"

"""The outbox: what people asked the executor to do. The row is the truth, messages only wake."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.release import Release
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class CommandKind(models.TextChoices):
    """What is to be done with a release."""

    DEPLOY = "deploy", _("Deploy")
    STOP = "stop", _("Stop")
    REMOVE = "remove", _("Remove")


class CommandState(models.TextChoices):
    """Life of a command; ``running`` rows whose lease has run out are taken over."""

    READY = "ready", _("Waiting for a worker")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class Command(Row):
    """One request to act on a release.

    Claimed by a conditional UPDATE that sets owner and ``lease_until`` and adds one to ``fence``; each
    later write of the owner carries its fence. ``not_before`` delays the next step without a
    sleeping task. ``idempotency_key`` makes a double click one command. ``cancel_requested_at`` asks
    the owner to stop between two steps and leave nothing half done.
    """

    TEAM_PATH = "release__deployment__team"

    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="commands"
    )
    kind = models.CharField(max_length=8, choices=CommandKind.choices)
    state = models.CharField(
        max_length=10, choices=CommandState.choices, default=CommandState.READY
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    idempotency_key = models.CharField(max_length=64, unique=True)
    not_before = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=120, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    error = SentenceField(blank=True, default="")
    schema_version = models.PositiveSmallIntegerField(default=1)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]
        indexes = [models.Index(fields=["state", "not_before"], name="command_due")]
        constraints = [
            models.CheckConstraint(
                name="command_state_known", condition=Q(state__in=CommandState.values)
            ),
            models.CheckConstraint(
                name="command_kind_known", condition=Q(kind__in=CommandKind.values)
            ),
            models.CheckConstraint(
                name="command_running_has_lease",
                condition=~Q(state=CommandState.RUNNING)
                | Q(lease_until__isnull=False, fence__gte=1),
            ),
            models.UniqueConstraint(
                fields=["release"],
                condition=Q(state__in=[CommandState.READY, CommandState.RUNNING]),
                name="one_open_command_per_release",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.release}"

"""The preflight list of an approval request: what was checked on its hosts, when, and how it ended."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class PreflightCheck(models.TextChoices):
    """What is checked before anything stops, in the order in which people read it."""

    APPROVAL = "approval", _("Plan and approval")
    HOST = "host", _("Host as planned")
    DEVICES = "devices", _("Devices and ports")
    NAMES = "names", _("Names and other containers")
    IMAGE = "image", _("Image")
    DISK = "disk", _("Disk space")
    DRIVER = "driver", _("Driver against image")
    FABRIC = "fabric", _("Links between hosts")
    DIRECTORIES = "directories", _("Checkpoint directories")
    WEIGHTS = "weights", _("Weights and drafters")
    ARGUMENTS = "arguments", _("Arguments of the engine")
    OLD_RELEASE = "old_release", _("The release that it replaces")


class PreflightState(models.TextChoices):
    """How one check ended."""

    PASSED = "passed", _("Passed")
    NOTED = "noted", _("Note")
    FAILED = "failed", _("Failed")
    UNCHECKED = "unchecked", _("Not checked")


class Preflight(Row):
    """The last preflight of one request.

    It was asked for at ``asked_at``; a worker is at it, seen last at ``started_at``, and finished at
    ``read_at``. ``problem`` says why there is no list. ``results`` are rows of ``check``, ``host``
    (its name, empty for the whole plan), ``state``, ``sentence``, ``fix``, ``image`` (the id that it
    holds for) and ``at`` (ISO 8601); the release writes those that it repeats.
    """

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.OneToOneField(
        ApprovalRequest, on_delete=models.CASCADE, related_name="preflight"
    )
    asked_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    problem = SentenceField(blank=True, default="")
    results = models.JSONField(default=list, blank=True)

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"preflight of {self.request}"

    @classmethod
    def waiting(cls) -> Q:
        """Rows whose list was asked for and is not there yet."""
        return Q(asked_at__isnull=False) & (
            Q(read_at=None) | Q(read_at__lt=F("asked_at"))
        )

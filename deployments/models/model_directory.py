"""Model directories that a worker found on hosts, and who asked for the look."""

from datetime import UTC, datetime

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.fleet import Host
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField
from deployments.planning.text import NOTHING, Text, ended, sentences

MOST_DIRECTORIES = 500


def day(moment: datetime) -> str:
    """The day of a moment in UTC, as plans write it: a plan knows no time zone."""
    return moment.astimezone(UTC).date().isoformat()


class ModelDirectoryState(models.TextChoices):
    """Whether an engine could load what lies there (``planning.model_directory``)."""

    COMPLETE = "complete", _("Complete")
    INCOMPLETE = "incomplete", _("Incomplete")
    UNREADABLE = "unreadable", _("Not readable")
    UNCHECKED = "unchecked", _("Not checked")


class ModelListing(Row):
    """The last look at the model directories of a host.

    It was asked for at ``asked_at``; a worker is at it since ``started_at`` and finished at
    ``read_at``. ``problem`` says why it found nothing, ``cut`` what ended it early: "entries",
    "directories" or "time". ``others`` are entries of the roots that hold no model.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.OneToOneField(
        Host, on_delete=models.CASCADE, related_name="model_listing"
    )
    asked_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    problem = SentenceField(blank=True, default="")
    cut = models.CharField(max_length=12, blank=True, default="")
    others = models.PositiveIntegerField(default=0)

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"model directories of {self.host}"

    @classmethod
    def waiting(cls) -> Q:
        """Rows whose look was asked for and has no result yet."""
        return Q(asked_at__isnull=False) & (
            Q(read_at=None) | Q(read_at__lt=F("asked_at"))
        )


class ModelDirectory(Row):
    """One directory of a host that holds a model, as it was seen last.

    ``path`` is the host's. ``odd`` says that no plan can name it. ``weight_bytes`` are those of all
    weight files, ``sizes`` of their tensors (``planning.snapshot.WeightSizes``), ``reading`` what
    config.json and the headers say (``planning.model_config.reading.ModelReading``); ``None`` is
    unknown. ``digest`` tells contents apart, which have been the same since ``since``.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.ForeignKey(
        Host, on_delete=models.CASCADE, related_name="model_directories"
    )
    path = models.CharField(max_length=600)
    odd = models.BooleanField(default=False)
    state = models.CharField(max_length=12, choices=ModelDirectoryState.choices)
    problem = SentenceField(blank=True, default="")
    fix = SentenceField(blank=True, default="")
    has_config = models.BooleanField(default=False)
    architecture = models.CharField(max_length=120, blank=True, default="")
    file_count = models.PositiveIntegerField(default=0)
    weight_bytes = models.BigIntegerField(null=True, blank=True)
    index_digest = models.CharField(max_length=64, blank=True, default="")
    sizes = models.JSONField(null=True, blank=True)
    reading = models.JSONField(null=True, blank=True)
    digest = models.CharField(max_length=71)
    since = models.DateTimeField()
    seen_at = models.DateTimeField()

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(
                fields=["host", "path"], name="model_directory_once"
            ),
            models.CheckConstraint(
                name="model_directory_state_known",
                condition=Q(state__in=ModelDirectoryState.values),
            ),
            models.CheckConstraint(
                name="model_directory_trouble_is_said",
                condition=Q(state=ModelDirectoryState.COMPLETE) | ~Q(problem=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.path} on {self.host}"

    @property
    def trouble(self) -> Text:
        """What is wrong and how to mend it."""
        return sentences(ended(self.problem), self.fix) if self.problem else NOTHING

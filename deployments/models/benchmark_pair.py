"""Pairs of benchmarks: with speculation, without it, and with it again, on the same devices or on equal ones."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.benchmark_job import BenchmarkJob
from deployments.models.deployment import Deployment
from deployments.models.release import Release
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class PairState(models.TextChoices):
    """Where a pair stands, in the order of its steps; the last three are its end."""

    APPROVAL = "approval", _("Waiting for the approval")
    FIRST = "first", _("Measuring with speculation")
    SWITCHING_OFF = "off", _("Turning speculation off")
    BASE = "base", _("Measuring without speculation")
    SWITCHING_BACK = "back", _("Turning speculation on again")
    LAST = "last", _("Measuring with speculation again")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


PAIR_ENDS = (PairState.DONE, PairState.FAILED, PairState.CANCELLED)
OPEN_PAIRS = tuple(one for one in PairState if one not in PAIR_ENDS)


class BenchmarkPair(Row):
    """What somebody asked to measure with and without speculation.

    ``with_it`` is the release that is measured with it. Without ``other`` the same devices serve in
    turn: ``request`` asks for the same revision without speculation, ``without_it`` is its release and
    ``restored`` the one that brings the first plan back. With ``other``, a live deployment without
    speculation, nothing is switched. ``first``, ``base`` and ``last`` are the benchmarks. ``cause`` says
    why it ends early, and is written before what was switched is switched back; ``hold`` what it waits for.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="benchmark_pairs"
    )
    other = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    course = models.JSONField()
    prompts = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=PairState.choices)
    with_it = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    request = models.OneToOneField(
        ApprovalRequest,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="benchmark_pair",
    )
    without_it = models.ForeignKey(
        Release, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    restored = models.ForeignKey(
        Release, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    first = models.OneToOneField(
        BenchmarkJob, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    base = models.OneToOneField(
        BenchmarkJob, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    last = models.OneToOneField(
        BenchmarkJob, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    idempotency_key = models.CharField(max_length=64, unique=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cause = SentenceField(blank=True, default="")
    hold = SentenceField(blank=True, default="")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="benchmark_pair_state_known",
                condition=Q(state__in=PairState.values),
            ),
            models.UniqueConstraint(
                fields=["deployment"],
                condition=Q(state__in=OPEN_PAIRS),
                name="one_pair_a_deployment",
            ),
            models.CheckConstraint(
                name="benchmark_pair_in_turn_or_beside",
                condition=Q(other__isnull=True, request__isnull=False)
                | Q(other__isnull=False, request__isnull=True),
            ),
            models.CheckConstraint(
                name="benchmark_pair_failure_has_cause",
                condition=~Q(state=PairState.FAILED) | ~Q(cause=""),
            ),
        ]

    def __str__(self) -> str:
        return f"pair of {self.deployment}"

    @property
    def in_turn(self) -> bool:
        """Whether the same devices serve both arms, one after the other."""
        return self.other_id is None

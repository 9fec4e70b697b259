"""Deployments whose changes the panel may propose by itself."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.deployment import Deployment
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField

EVERY_DAYS = (1, 7, 30)


class ProposalSchedule(Row):
    """A team's leave to put the best change of a deployment to the vote, every so many days.

    A proposal is asked for in the name of ``allowed_by``, who therefore cannot approve it. ``problem``
    says why the last look made none; ``proposed`` is the newest request that one made.
    """

    TEAM_PATH = "deployment__team"

    deployment = models.OneToOneField(
        Deployment, on_delete=models.CASCADE, related_name="proposal_schedule"
    )
    every_days = models.PositiveSmallIntegerField()
    allowed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)
    looked_at = models.DateTimeField(null=True, blank=True)
    problem = SentenceField(blank=True, default="")
    proposal_key = models.CharField(max_length=120, blank=True, default="")
    proposed = models.ForeignKey(
        ApprovalRequest,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["deployment"]
        constraints = [
            models.CheckConstraint(
                name="proposal_schedule_days_known",
                condition=Q(every_days__in=EVERY_DAYS),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment} every {self.every_days} days"

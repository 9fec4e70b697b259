"""Absences: approvers who let another member of the team decide for them, and the votes given so."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from deployments.models.approval import Approval, ApprovalRequest
from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class Delegation(Row):
    """One absence: it ends by itself at ``ends_at``, or sooner at ``ended_at``.

    It hands on nobody's right but the approver's own: what was delegated to them stays with them.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="delegations")
    approver = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    delegate = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["ends_at"]
        indexes = [
            models.Index(fields=["delegate", "team"], name="delegation_by_delegate")
        ]
        constraints = [
            models.CheckConstraint(
                name="delegation_to_another", condition=~Q(approver=F("delegate"))
            ),
            models.UniqueConstraint(
                fields=["team", "approver"],
                condition=Q(ended_at=None),
                name="one_delegation_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.approver}: {self.delegate}"


class DelegatedVote(Row):
    """For whom a vote was given; insert-only, like the vote. Nobody is voted for twice."""

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.PROTECT, related_name="+"
    )
    vote = models.OneToOneField(
        Approval, on_delete=models.PROTECT, related_name="delegated"
    )
    approver = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    approver_name = models.CharField(max_length=160)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request", "approver"], name="voted_for_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.vote} for {self.approver_name}"

"""Reminders of requests that are running out: which were given, each once."""

from django.db import models
from django.db.models import Q

from deployments.models.approval import ApprovalRequest, RequestState
from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet


class RequestReminder(Row):
    """One reminder: of a request in a state, when so many percent of its time there were over."""

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.CASCADE, related_name="reminders"
    )
    state = models.CharField(max_length=12, choices=RequestState.choices)
    percent = models.PositiveSmallIntegerField()

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request", "state", "percent"], name="reminded_once"
            ),
            models.CheckConstraint(
                name="reminder_state_known",
                condition=Q(state__in=RequestState.values),
            ),
            models.CheckConstraint(
                name="reminder_is_a_share", condition=Q(percent__gte=1, percent__lte=99)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request}: {self.percent} %"

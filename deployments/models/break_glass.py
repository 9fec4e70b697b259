"""Releases that somebody started without waiting for approval, and what others said of it later."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.release import Release
from deployments.models.scope import ScopedQuerySet


class BreakGlass(Row):
    """One use; it stays open until somebody else reviews it, and is never removed.

    ``state_before`` is that of the request; ``incident`` is a name in another system.
    """

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.PROTECT, related_name="broken_glass"
    )
    release = models.OneToOneField(
        Release, on_delete=models.PROTECT, related_name="broken_glass"
    )
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.CharField(max_length=300)
    incident = models.CharField(max_length=80)
    state_before = models.CharField(max_length=12)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)
    review = models.CharField(max_length=300, blank=True, default="")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="glass_has_reason", condition=~Q(reason="") & ~Q(incident="")
            ),
            models.CheckConstraint(
                name="glass_review_is_whole",
                condition=Q(reviewed_by=None, reviewed_at=None, review="")
                | (
                    Q(reviewed_by__isnull=False, reviewed_at__isnull=False)
                    & ~Q(review="")
                ),
            ),
            models.CheckConstraint(
                name="glass_reviewed_by_another",
                condition=Q(reviewed_by=None) | ~Q(reviewed_by=F("used_by")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.release}: {self.incident}"

"""One-time links by which people who have no account come into a team."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class Invitation(Row):
    """A link that makes one account with these roles in the team, once, until ``expires_at``.

    The token of the link is shown to whoever made it and kept nowhere; ``token_hash`` is its SHA-256.
    ``email`` is whom it is for, where that was said: the account takes that address.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    roles = models.JSONField()
    email = models.EmailField(blank=True, default="")
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    expires_at = models.DateTimeField()
    accepted_by = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="invitation",
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="invitation_ends_once",
                condition=Q(accepted_at=None) | Q(revoked_at=None),
            ),
            models.CheckConstraint(
                name="invitation_expires_later",
                condition=Q(expires_at__gt=F("created_at")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.team}: {self.email or ', '.join(self.roles)}"

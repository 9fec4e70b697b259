"""Teams, their members, and the roles each member holds."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row


class TeamRole(models.TextChoices):
    """A right within one team. None implies another: who approves was given that right."""

    VIEWER = "viewer", _("Viewer")
    OPERATOR = "operator", _("Operator")
    APPROVER = "approver", _("Approver")
    ADMIN = "admin", _("Team admin")
    BREAK_GLASS = "break_glass", _("Break glass")


class Team(Row):
    """People who share clusters and deployments; everything a person sees belongs to a team.

    ``notice_language`` is that of its channels; empty is English.
    """

    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(max_length=40, unique=True)
    notice_language = models.CharField(max_length=10, blank=True, default="")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(Row):
    """One person in one team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class RoleGrant(Row):
    """One role given to one member; ``created_at`` decides whether it predates a request."""

    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="grants"
    )
    role = models.CharField(max_length=12, choices=TeamRole.choices)
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["membership", "role"], name="role_granted_once"
            ),
            models.CheckConstraint(
                name="role_known", condition=models.Q(role__in=TeamRole.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.membership}: {self.role}"

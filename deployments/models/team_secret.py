"""Secrets of a team that its deployments name, such as the API key of an endpoint."""

from django.conf import settings
from django.db import models

from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.sealed import SealedField
from deployments.models.team import Team


class TeamSecret(Row):
    """One value under a name; nobody reads it back but the executor.

    ``version`` grows with each new value, and a plan names the version that it was made with.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="secrets")
    name = models.SlugField(max_length=40)
    version = models.PositiveIntegerField(default=1)
    sealed = SealedField()
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="secret_name_once"),
            models.CheckConstraint(
                name="secret_version_positive", condition=models.Q(version__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.name}"

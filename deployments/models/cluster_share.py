"""Clusters that one team lets others see, or deploy on."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.fleet import Cluster
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class ShareAccess(models.TextChoices):
    """What guests may do on a cluster beside looking at it."""

    READ = "read", _("See it")
    DEPLOY = "deploy", _("Deploy on it")


class ClusterShare(Row):
    """One team as the guest of a cluster; without a row a foreign cluster is unknown to it."""

    TEAM_PATH = "cluster__team"

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="shares"
    )
    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="cluster_shares"
    )
    access = models.CharField(max_length=8, choices=ShareAccess.choices)
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["team__name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "team"], name="one_share_each"),
            models.CheckConstraint(
                name="share_access_known",
                condition=models.Q(access__in=ShareAccess.values),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster} for {self.team}: {self.access}"

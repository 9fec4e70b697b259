"""The approval rules of clusters, every version of them."""

from django.conf import settings
from django.db import models

from deployments.models.base import Row
from deployments.models.fleet import Cluster
from deployments.models.scope import ScopedQuerySet


class PolicyVersion(Row):
    """The rules of a cluster from one policy version on, until the next row; never changed.

    ``number`` is the cluster's ``policy_version`` that the change made; ``rules`` is a
    ``planning.approval_rules.ApprovalRules``. A cluster without rows has that class's defaults.
    """

    TEAM_PATH = "cluster__team"

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="policy_versions"
    )
    number = models.PositiveIntegerField()
    rules = models.JSONField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["cluster", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "number"], name="policy_version_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster}, policy version {self.number}"

"""How many devices of a cluster a team may hold at once."""

from django.conf import settings
from django.db import models

from deployments.models.base import Row
from deployments.models.fleet import Cluster
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class DeviceQuota(Row):
    """A limit on devices that are booked or asked for; without a row there is none."""

    TEAM_PATH = "team"

    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="device_quotas"
    )
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="device_quotas"
    )
    devices = models.PositiveIntegerField()
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["cluster"]
        constraints = [
            models.UniqueConstraint(fields=["team", "cluster"], name="one_quota_each"),
        ]

    def __str__(self) -> str:
        return f"{self.team} on {self.cluster}: {self.devices}"

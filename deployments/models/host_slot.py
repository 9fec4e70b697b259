"""Places for tasks at a slow host, so that it never holds every worker."""

from django.db import models

from deployments.models.base import Row
from deployments.models.fleet import Host
from deployments.models.scope import ScopedQuerySet


class HostSlot(Row):
    """One of the few places at a host that answers slowly or not; taken until ``taken_until``.

    ``None`` is free, as is a time that is over: its worker was lost.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    taken_until = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["host", "number"]
        constraints = [
            models.UniqueConstraint(fields=["host", "number"], name="host_slot_once"),
        ]

    def __str__(self) -> str:
        return f"place {self.number} at {self.host}"

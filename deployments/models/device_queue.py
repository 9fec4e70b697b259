"""What releases wait for: devices and ports that others hold."""

from django.db import models
from django.db.models import Q

from deployments.models.base import Row
from deployments.models.fleet import Host
from deployments.models.release import Replica
from deployments.models.scope import ScopedQuerySet


class QueuedBooking(Row):
    """A device or a port that a queued release will hold once it is free.

    All rows of a release become bookings in one transaction, or go when it ends without them.
    ``Release.queued_at`` says since when it waits, and so who is first.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="queue")
    replica = models.ForeignKey(
        Replica, on_delete=models.CASCADE, related_name="queued_bookings"
    )
    device = models.PositiveSmallIntegerField(null=True, blank=True)
    port = models.PositiveIntegerField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["host", "device", "port"]
        constraints = [
            models.CheckConstraint(
                name="queued_booking_is_device_or_port",
                condition=Q(device__isnull=True, port__isnull=False)
                | Q(device__isnull=False, port__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        what = f"device {self.device}" if self.port is None else f"port {self.port}"
        return f"{self.replica} waits for {self.host} {what}"

"""Devices of a host that its engine cannot tell: read from a tool's output, or counted by hand."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import AuditAction, Booking, Device, Host, TeamRole, User
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError
from deployments.telemetry.accelerators import Accelerator


def set_devices(user: User, host: Host, found: Sequence[Accelerator]) -> None:
    """Keep exactly these devices; plans made from others become stale by their snapshot digests.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
        ConflictError: a device that a replica holds is not among them.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    numbers = {one.number for one in found}
    with transaction.atomic():
        held = Booking.objects.filter(
            host=host, released_at=None, device__isnull=False
        ).values_list("device", flat=True)
        if lost := sorted({one for one in held if one is not None} - numbers):
            raise ConflictError(
                _(
                    "Replicas of the panel hold device %(numbers)s, which is not among these: stop "
                    "their releases first, or paste the output for the whole host."
                )
                % {"numbers": ", ".join(map(str, lost))}
            )
        old = _devices(host)
        for one in found:
            Device.objects.update_or_create(
                host=host,
                number=one.number,
                defaults={
                    "name": one.name[:80],
                    "memory_bytes": one.memory_bytes,
                    "used_bytes": one.used_bytes,
                    "free_bytes": one.free_bytes,
                    "healthy": one.healthy,
                    # Only a tool's output says what is used; a count by hand was not read.
                    "read_at": None if one.used_bytes is None else Now(),
                },
            )
        host.devices.exclude(number__in=numbers).delete()
        new = _devices(host)
        record(AuditAction.HOST_DEVICES, user, host, before=old, after=new)


def _devices(host: Host) -> dict[str, object]:
    rows = host.devices.order_by("number").values_list("number", "name")
    return {str(number): name for number, name in rows}

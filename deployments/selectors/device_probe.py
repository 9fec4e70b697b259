"""What the last probe of a host found, as its page shows it."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from deployments.models import Cluster, Host, HostProbe, Platform, ProbeSettings

WAITED_FOR = timedelta(minutes=5)
"""A page does not wait longer for a probe whose worker does not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeView:
    """The last probe; ``row`` is ``None`` where nobody has looked yet.

    ``possible`` is false for hosts without accelerators. ``waiting`` is true while a worker looks.
    """

    row: HostProbe | None
    possible: bool
    waiting: bool

    @property
    def stamp(self) -> str:
        """Changes when the page would show something else."""
        if self.row is None:
            return "none"
        times = (self.row.asked_at, self.row.begun_at, self.row.ended_at)
        return "-".join(f"{one.timestamp():.3f}" if one else "0" for one in times)


def probe_view(host: Host) -> ProbeView:
    """The probe of one host, in one query."""
    row = HostProbe.objects.filter(host=host).first()
    return ProbeView(
        row=row,
        possible=host.platform != Platform.CPU,
        waiting=row is not None and _waiting(row),
    )


def probe_settings(cluster: Cluster) -> ProbeSettings:
    """The settings of a cluster, as they are where nobody decided."""
    found = ProbeSettings.objects.filter(cluster=cluster).first()
    return found or ProbeSettings(cluster=cluster)


def _waiting(row: HostProbe) -> bool:
    since = timezone.now() - WAITED_FOR
    asked = row.asked_at is not None and row.asked_at > since
    unanswered = asked and (
        row.begun_at is None or (row.asked_at or since) > row.begun_at
    )
    running = row.begun_at is not None and row.begun_at > since and not row.ended_at
    return bool(unanswered or running)

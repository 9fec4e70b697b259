"""Ask for a probe of a host; a worker does it, since only it reaches Docker Engines."""

from django.db import transaction
from django.db.models.functions import Now

from deployments.models import Host, HostProbe, TeamRole, User
from deployments.services.access import require_role
from deployments.services.waking import wake

PROBE_HOST = "deployments.probe_host"


def ask_for_probe(user: User, host: Host) -> None:
    """Have a worker probe the host; the row is the truth, a message only wakes.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        HostProbe.objects.update_or_create(host=host, defaults={"asked_at": Now()})
        transaction.on_commit(lambda: wake(PROBE_HOST, [host.pk]))

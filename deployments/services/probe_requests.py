"""Ask for a probe of a host; a worker does it, since only it reaches Docker Engines."""

import logging
import uuid

from celery import current_app
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from deployments.models import Host, HostProbe, TeamRole, User
from deployments.services.access import require_role

logger = logging.getLogger(__name__)
PROBE_HOST = "deployments.probe_host"


def ask_for_probe(user: User, host: Host) -> None:
    """Have a worker probe the host; the row is the truth, a message only wakes.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        HostProbe.objects.update_or_create(host=host, defaults={"asked_at": Now()})
        transaction.on_commit(lambda: _wake(host.pk))


def _wake(host_id: uuid.UUID) -> None:
    """One attempt; the round that probes hosts finds the row if the broker is down."""
    try:
        with current_app.connection_for_write(
            transport_options={"max_retries": 0}
        ) as connection:
            current_app.send_task(
                PROBE_HOST,
                args=[str(host_id)],
                queue="default",
                retry=False,
                connection=connection,
            )
    except OperationalError:
        logger.warning("queue unreachable", extra={"host_id": str(host_id)})

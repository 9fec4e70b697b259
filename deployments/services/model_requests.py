"""Ask for a look at the model directories of a host: a row, and a message that wakes a worker."""

import logging
import uuid

from celery import current_app
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from deployments.models import Host, ModelListing, TeamRole, User
from deployments.services.access import require_role

logger = logging.getLogger(__name__)
LIST_MODELS = "deployments.list_models"


def ask_for_listing(user: User, host: Host) -> None:
    """Have a worker look at the model directories of the host; one look at a time.

    Raises:
        NotAllowedError: the person is no operator of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.OPERATOR)
    with transaction.atomic():
        ModelListing.objects.get_or_create(host=host)
        ModelListing.objects.filter(host=host).exclude(ModelListing.waiting()).update(
            asked_at=Now()
        )
        transaction.on_commit(lambda: _wake(host.pk))


def _wake(host_id: uuid.UUID) -> None:
    """One attempt; the round that asks for lost looks finds the row if the broker is down."""
    try:
        with current_app.connection_for_write(
            transport_options={"max_retries": 0}
        ) as connection:
            current_app.send_task(
                LIST_MODELS,
                args=[str(host_id)],
                queue="default",
                retry=False,
                connection=connection,
            )
    except OperationalError:
        logger.warning("queue unreachable", extra={"host_id": str(host_id)})

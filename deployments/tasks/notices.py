"""Send notices: one short task each, and a round for what is due."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services.notices import sending
from deployments.services.notices.announcing import SEND_NOTICE

ROUND_S = 15


@shared_task(base=DjangoTask, name=SEND_NOTICE)
def send_notice(delivery_id: str) -> None:
    """Make one attempt."""
    sending.send_notice(uuid.UUID(delivery_id))


@shared_task(base=DjangoTask, name="deployments.send_notices")
def send_notices() -> None:
    """Send one task per notice that is due: new attempts, and those whose message was lost."""
    for delivery_id in sending.due_deliveries():
        send_notice.apply_async(args=(str(delivery_id),), expires=ROUND_S)

"""Read container logs: one short task per host and round."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import log_reading

ROUND_S = 5


@shared_task(base=DjangoTask, name="deployments.poll_logs")
def poll_logs() -> None:
    """Send one task per host that has something to read."""
    for host_id in log_reading.hosts_to_read():
        read_host_logs.apply_async(args=(str(host_id),), expires=ROUND_S)


@shared_task(base=DjangoTask, name="deployments.read_host_logs")
def read_host_logs(host_id: str) -> None:
    """Read the containers of one host."""
    log_reading.read_host_logs(uuid.UUID(host_id))

"""Fill the tails that people look at: one short task per host and round, none when nobody looks."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import log_tails

ROUND_S = 2


@shared_task(base=DjangoTask, name="deployments.poll_log_tails")
def poll_log_tails() -> None:
    """Forget what nobody looks at, and send one task per host that somebody does."""
    log_tails.forget_tails()
    for host_id in log_tails.hosts_wanted():
        fill_host_tails.apply_async(args=(str(host_id),), expires=ROUND_S)


@shared_task(base=DjangoTask, name="deployments.fill_host_tails")
def fill_host_tails(host_id: str) -> None:
    """Read what is new in the logs of one host."""
    log_tails.fill_host_tails(uuid.UUID(host_id))

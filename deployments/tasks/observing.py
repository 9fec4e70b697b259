"""Observe hosts: one short task per host and round."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import replica_observation

ROUND_S = 15


@shared_task(base=DjangoTask, name="deployments.observe_hosts")
def observe_hosts() -> None:
    """Send one task per host."""
    for host_id in replica_observation.hosts_to_observe():
        observe_host.apply_async(args=(str(host_id),), expires=ROUND_S)


@shared_task(base=DjangoTask, name="deployments.observe_host")
def observe_host(host_id: str) -> None:
    """Look at one host and our containers there."""
    replica_observation.observe_host(uuid.UUID(host_id))

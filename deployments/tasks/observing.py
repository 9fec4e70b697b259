"""Observe hosts: one short task per host and round."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import replica_observation

ROUND_S = 12
WATCH_S = 5


@shared_task(base=DjangoTask, name="deployments.observe_hosts")
def observe_hosts() -> None:
    """Send one task per host."""
    for host_id in replica_observation.hosts_to_observe():
        observe_host.apply_async(args=(str(host_id),), expires=ROUND_S)


@shared_task(base=DjangoTask, name="deployments.observe_host")
def observe_host(host_id: str) -> None:
    """Look at one host and our containers there."""
    replica_observation.observe_host(uuid.UUID(host_id))


@shared_task(base=DjangoTask, name="deployments.watch_hosts")
def watch_hosts() -> None:
    """Send one task per host that has containers of ours."""
    for host_id in replica_observation.hosts_to_watch():
        watch_host.apply_async(args=(str(host_id),), expires=WATCH_S)


@shared_task(base=DjangoTask, name="deployments.watch_host")
def watch_host(host_id: str) -> None:
    """Look whether our containers on one host are as they were."""
    replica_observation.watch_host(uuid.UUID(host_id))

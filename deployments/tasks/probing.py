"""Probe hosts for their accelerators."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import host_probe
from deployments.services.probe_requests import PROBE_HOST

ROUND_S = 30


@shared_task(base=DjangoTask, name=PROBE_HOST)
def probe_host(host_id: str) -> None:
    """Probe one host."""
    host_probe.run_probe(uuid.UUID(host_id))


@shared_task(base=DjangoTask, name="deployments.probe_hosts")
def probe_hosts() -> None:
    """Send one task per host that is due."""
    for host_id in host_probe.hosts_to_probe():
        probe_host.apply_async(args=(str(host_id),), expires=ROUND_S)

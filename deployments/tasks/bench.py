"""Carry benchmarks on."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services.bench import carrying
from deployments.services.bench.asking import CARRY_BENCHMARK

ROUND_S = 5


@shared_task(base=DjangoTask, name=CARRY_BENCHMARK)
def carry_benchmark(job_id: str) -> None:
    """Bring one on as far as it goes without waiting."""
    carrying.carry_on(uuid.UUID(job_id))


@shared_task(base=DjangoTask, name="deployments.carry_benchmarks")
def carry_benchmarks() -> None:
    """Look at each that has not ended."""
    for job_id in carrying.open_benchmarks():
        carry_benchmark.apply_async(args=(str(job_id),), expires=ROUND_S)

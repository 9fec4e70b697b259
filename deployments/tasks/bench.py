"""Carry benchmarks and pairs of them on."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services.bench import carrying, pair_carrying
from deployments.services.bench.asking import CARRY_BENCHMARK
from deployments.services.bench.pairs import CARRY_PAIR

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
    for pair_id in pair_carrying.open_pairs():
        carry_pair.apply_async(args=(str(pair_id),), expires=ROUND_S)


@shared_task(base=DjangoTask, name=CARRY_PAIR)
def carry_pair(pair_id: str) -> None:
    """Bring a pair a step on, if it may be."""
    pair_carrying.carry_pair_on(uuid.UUID(pair_id))

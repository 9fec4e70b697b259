"""Run preflights of requests that somebody asked for."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services.preflight_requests import RUN_PREFLIGHT
from deployments.services.rollout import trial

TIME_LIMIT_S = 60 * 60
"""Reading headers of large checkpoints on many hosts takes minutes; each single look has its own limit."""
ROUND_S = 15


@shared_task(
    base=DjangoTask,
    name=RUN_PREFLIGHT,
    time_limit=TIME_LIMIT_S,
    soft_time_limit=TIME_LIMIT_S - 60,
)
def run_preflight(preflight_id: str) -> None:
    """Run one."""
    trial.run_preflight(uuid.UUID(preflight_id))


@shared_task(base=DjangoTask, name="deployments.run_preflights")
def run_preflights() -> None:
    """Run those whose message was lost."""
    for preflight_id in trial.preflights_to_run():
        run_preflight.apply_async(args=(str(preflight_id),), expires=ROUND_S)

"""Work on commands, and wake workers for those that are due."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services.rollout import claims, executor

PULL_TIME_LIMIT_S = 70 * 60
"""A slice takes seconds, but a pull is one long call; its lease is kept by a heartbeat."""


@shared_task(
    base=DjangoTask,
    name="deployments.run_command",
    time_limit=PULL_TIME_LIMIT_S,
    soft_time_limit=PULL_TIME_LIMIT_S - 60,
)
def run_command(command_id: str) -> None:
    """Carry a command on for one slice."""
    executor.run_command(uuid.UUID(command_id))


@shared_task(base=DjangoTask, name="deployments.sweep_commands")
def sweep_commands() -> None:
    """Wake workers for commands whose message was lost or whose owner was."""
    claims.sweep_commands()

"""Celery entry points: an id in, one service call; nothing is decided here."""

from deployments.tasks.observing import observe_host, observe_hosts
from deployments.tasks.reading import poll_logs, read_host_logs
from deployments.tasks.rollout import run_command, sweep_commands

__all__ = [
    "observe_host",
    "observe_hosts",
    "poll_logs",
    "read_host_logs",
    "run_command",
    "sweep_commands",
]

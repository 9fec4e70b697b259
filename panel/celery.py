"""The Celery application: two queues, and the tasks that repeat for ever."""

import os
from typing import Any

from celery import Celery
from django.conf import settings
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")

__all__ = ["app"]

app = Celery("panel")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = [Queue("default"), Queue("rollout")]


def _every(name: str, seconds: int) -> dict[str, Any]:
    return {
        "task": f"deployments.{name}",
        "schedule": float(seconds),
        # Nobody wants a heap of stale rounds after the worker was away.
        "options": {"queue": "default", "expires": float(seconds)},
    }


app.conf.beat_schedule = {
    name: _every(name, seconds)
    for name, seconds in (
        ("poll_logs", 5),
        ("observe_hosts", 12),
        ("watch_hosts", 5),
        ("test_connections", 15),
        ("probe_hosts", 30),
        ("list_models_asked", 15),
        ("run_preflights", 15),
        ("poll_log_tails", 2),
        ("carry_benchmarks", 5),
        ("roll_up", 30),
        ("propose_due", 600),
        ("forget_old", 300),
        ("follow_requests", 30),
        ("send_notices", 15),
    )
}
app.autodiscover_tasks(["deployments"])


@app.on_after_configure.connect
def _sweep_as_set(source: Any, **_more: object) -> None:  # noqa: ANN401 - Celery's own
    """Repeat what a setting times: this package is imported before there are settings."""
    name = "sweep_commands"
    source.beat_schedule[name] = _every(name, settings.COMMAND_SWEEP_SECONDS)

"""Celery entry points: an id in, one service call; nothing is decided here."""

from deployments.tasks.approvals import follow_requests
from deployments.tasks.bench import carry_benchmark, carry_benchmarks, carry_pair
from deployments.tasks.connecting import test_connection, test_connections
from deployments.tasks.listing import list_models, list_models_asked
from deployments.tasks.notices import send_notice, send_notices
from deployments.tasks.observing import (
    observe_host,
    observe_hosts,
    watch_host,
    watch_hosts,
)
from deployments.tasks.preflight import run_preflight, run_preflights
from deployments.tasks.probing import probe_host, probe_hosts
from deployments.tasks.proposing import propose_due
from deployments.tasks.reading import poll_logs, read_host_logs
from deployments.tasks.rollout import run_command, sweep_commands
from deployments.tasks.rollups import forget_old, roll_up
from deployments.tasks.tails import fill_host_tails, poll_log_tails

__all__ = [
    "carry_benchmark",
    "carry_benchmarks",
    "carry_pair",
    "fill_host_tails",
    "follow_requests",
    "forget_old",
    "list_models",
    "list_models_asked",
    "observe_host",
    "observe_hosts",
    "poll_log_tails",
    "poll_logs",
    "probe_host",
    "probe_hosts",
    "propose_due",
    "read_host_logs",
    "roll_up",
    "run_command",
    "run_preflight",
    "run_preflights",
    "send_notice",
    "send_notices",
    "sweep_commands",
    "test_connection",
    "test_connections",
    "watch_host",
    "watch_hosts",
]

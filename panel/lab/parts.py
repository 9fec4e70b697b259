"""The programs that make up a running panel."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from panel.lab.processes import Child

__all__ = ["LARGEST_LOG", "fresh_log", "parts"]

LARGEST_LOG = 10 * 1024 * 1024
WEB_PROCESSES = 2
WEB_THREADS = 4


def parts(port: int, logs: Path, environment: Mapping[str, str]) -> list[Child]:
    """Describe web server, one worker for each queue, and the clock, in this order."""
    python = sys.executable
    celery = [python, "-m", "celery", "--app", "panel", "--quiet"]
    web = [
        python,
        "-m",
        "gunicorn",
        f"--bind=127.0.0.1:{port}",
        f"--workers={WEB_PROCESSES}",
        "--worker-class=gthread",
        f"--threads={WEB_THREADS}",
        "--graceful-timeout=5",
        # The wizard's state is its address; the most that gunicorn allows.
        "--limit-request-line=8190",
        "--no-control-socket",
        "--access-logfile=-",
        "panel.wsgi:application",
    ]
    commands = {
        "web": web,
        "worker-default": [*celery, *_worker("default")],
        "worker-rollout": [*celery, *_worker("rollout")],
        "beat": [*celery, "beat", "--loglevel=INFO", "--pidfile="],
    }
    return [
        Child(
            name=name,
            command=command,
            log=fresh_log(logs / f"{name}.log"),
            environment=environment,
            # A worker finishes its step on SIGTERM; SIGQUIT hands the step back.
            signals=(signal.SIGTERM, signal.SIGQUIT),
            patience_s=8,
        )
        for name, command in commands.items()
    ]


def fresh_log(path: Path) -> Path:
    """Put a log that has grown too large aside, keeping one old one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LARGEST_LOG:
        path.replace(path.with_suffix(".log.1"))
    return path


def _worker(queue: str) -> list[str]:
    # At most two releases at once wait for a host that hangs, and one process is left for the others.
    processes = 3 if queue == "rollout" else 2
    return [
        "worker",
        f"--queues={queue}",
        f"--hostname={queue}-{os.getpid()}@%h",
        f"--concurrency={processes}",
        "--loglevel=INFO",
        "--without-gossip",
        "--without-mingle",
    ]

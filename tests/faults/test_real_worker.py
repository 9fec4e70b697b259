"""A real Redis, real Celery workers and the clock: killed and emptied in the middle of a release."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from deployments.models import AcceptanceSample, Command, EventKind, ReleaseState
from panel.lab.redis_server import find_program, own_redis
from tests.faults.processes import ROOT, environment, nothing_twice
from tests.services.rollout.world import FAST_TRAFFIC, World, only_replica

pytestmark = [
    pytest.mark.docker,
    pytest.mark.faults,
    # Both of its kind empty the one Redis.
    pytest.mark.xdist_group("redis"),
]

CELERY = (sys.executable, "-m", "celery", "--app", "panel", "--quiet")
SLOW_START = (("PRACTICE_READY_AFTER", "6"),)
CONVERGED_WITHIN_S = 60
Starter = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def celery(redis_url: str, tmp_path: Path) -> Iterator[Starter]:
    """Start Celery processes in groups of their own; all are killed at the end."""
    started: list[subprocess.Popen[bytes]] = []
    log = (tmp_path / "celery.log").open("wb")

    def start(*arguments: str, redis_url: str = redis_url) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [*CELERY, *arguments],
            cwd=ROOT,
            env=environment(REDIS_URL=redis_url),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        kill(process)
    log.close()
    print((tmp_path / "celery.log").read_text()[-4000:])  # noqa: T201 - shown on failure


def kill(process: "subprocess.Popen[bytes]") -> None:
    """kill -9 of a process and all its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def within(seconds: float, reached: Callable[[], bool]) -> float:
    """Wait for something; gives how long it took."""
    begin = time.monotonic()
    while not reached():
        assert time.monotonic() - begin < seconds, f"not within {seconds} s"
        time.sleep(0.2)
    return time.monotonic() - begin


def test_a_release_survives_its_worker_and_its_queue(
    committed_world: World, celery: Starter, redis_url: str, tmp_path: Path
) -> None:
    world = committed_world
    worker = (
        "worker",
        "--queues=default,rollout",
        "--concurrency=2",
        "--loglevel=INFO",
    )
    celery("beat", "--loglevel=INFO", "--pidfile=", f"--schedule={tmp_path / 'beat'}")
    first = celery(*worker, "--hostname=first@%h")
    planned = world.replica(environment=(*SLOW_START, *FAST_TRAFFIC))
    release = world.release(world.plan(planned))

    def state() -> str:
        release.refresh_from_db()
        return release.state

    within(60, lambda: state() == ReleaseState.STARTING)
    kill(first)
    redis.Redis.from_url(redis_url).flushall()
    celery(*worker, "--hostname=second@%h")
    within(CONVERGED_WITHIN_S, lambda: state() == ReleaseState.LIVE)
    assert world.our_containers() == [(planned.container.name, "running")]
    samples = AcceptanceSample.objects.filter(replica=only_replica(release))
    within(60, lambda: samples.count() >= 3)
    nothing_twice(world, release)
    command = Command.objects.get(release=release)
    assert command.error == ""


@pytest.mark.slow
def test_a_release_survives_lost_children_a_restarted_queue_and_workers_that_are_told_to_end(
    committed_world: World, celery: Starter, tmp_path: Path
) -> None:
    world = committed_world
    program = find_program()
    assert program is not None
    queue = own_redis(tmp_path / "redis", program, tmp_path / "redis.log")
    queue.start()
    worker = (
        "worker",
        "--queues=default,rollout",
        "--concurrency=2",
        "--loglevel=INFO",
    )
    beat = ("beat", "--loglevel=INFO", "--pidfile=", f"--schedule={tmp_path / 'beat'}")
    try:
        celery(*beat, redis_url=queue.url)
        first = celery(*worker, "--hostname=first@%h", redis_url=queue.url)
        planned = world.replica(environment=(("PRACTICE_READY_AFTER", "12"),))
        release = world.release(world.plan(planned))

        def state() -> str:
            release.refresh_from_db()
            return release.state

        within(60, lambda: state() == ReleaseState.STARTING)
        for child in children_of(first.pid):
            os.kill(child, signal.SIGKILL)
        queue.child.stop()
        time.sleep(1)
        queue.start()
        first.send_signal(signal.SIGTERM)
        celery(*worker, "--hostname=second@%h", redis_url=queue.url)
        within(CONVERGED_WITHIN_S, lambda: state() == ReleaseState.LIVE)
        within(30, lambda: first.poll() is not None)
    finally:
        queue.child.stop()
    assert world.our_containers() == [(planned.container.name, "running")]
    assert not release.events.filter(kind=EventKind.FAILED).exists()
    nothing_twice(world, release)


def children_of(pid: int) -> list[int]:
    """The processes that a process started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(one) for task in tasks for one in task.read_text().split()]

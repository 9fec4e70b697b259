"""A real Redis, real Celery workers and the clock: killed and emptied in the middle of a release."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db.models.functions import Now
from kombu import Connection, Message

from deployments.models import AcceptanceSample, Command, EventKind, ReleaseState
from deployments.tasks import run_command
from panel.env import broker_address
from panel.lab.redis_server import find_program, own_redis
from tests.faults.processes import (
    ROOT,
    SCALED,
    environment,
    nothing_twice,
    start_worker,
)
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

    def start(
        *arguments: str, redis_url: str = redis_url, **changes: str
    ) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [*CELERY, *arguments],
            cwd=ROOT,
            env=environment(REDIS_URL=redis_url, **changes),
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


def frozen(pid: int) -> bool:
    """Whether the process was stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("T")


def given_out_twice(redis_url: str, command: Command) -> Message:
    """The second copy of a message whose task runs longer than the broker waits for its end."""
    short = {"visibility_timeout": 0}
    with Connection(broker_address(redis_url), transport_options=short) as broker:
        queue = broker.SimpleQueue(f"given-out-twice-{command.pk}")
        queue.put({"command_id": str(command.pk)})
        first = queue.get(timeout=10)
        channel: Any = queue.channel
        channel.qos.restore_visible(interval=1)
        second = queue.get(timeout=10)
        assert second.payload == first.payload
        second.ack()
        queue.close()
    return second


def test_a_message_given_out_again_while_its_task_runs_changes_nothing(
    committed_world: World, redis_url: str
) -> None:
    world = committed_world
    release = world.release(world.plan())
    command = Command.objects.get(release=release)
    rows = Command.objects.filter(pk=command.pk)
    with start_worker("command", command.pk, "after:CREATE:freeze") as owner:
        try:
            within(60, lambda: frozen(owner.pid))
            # It stands still in the middle of an act and holds its lease meanwhile.
            rows.update(lease_until=Now() + timedelta(minutes=1))
            before = rows.values("fence", "attempts", "owner").get()
            again = given_out_twice(redis_url, command)
            assert again.delivery_info["redelivered"]
            run_command(again.payload["command_id"])
            assert rows.values("fence", "attempts", "owner").get() == before
            assert len(world.our_containers()) == 1
            os.kill(owner.pid, signal.SIGCONT)
            assert owner.wait(100) == 0
        finally:
            owner.kill()
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE
    assert len(world.our_containers()) == 1
    nothing_twice(world, release)


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
        celery(*beat, redis_url=queue.url, **SCALED)
        first = celery(*worker, "--hostname=first@%h", redis_url=queue.url, **SCALED)
        planned = world.replica(environment=SLOW_START)
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
        celery(*worker, "--hostname=second@%h", redis_url=queue.url, **SCALED)
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

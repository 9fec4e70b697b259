"""Every printed window is stored once, whatever is killed, emptied, restarted or rotated meanwhile.

A generator numbers its windows: window n says that n tokens were accepted. So the stored samples
are the numbers themselves, and a number that is missing must lie in a declared gap. What the engine
wrote is known from its own files, which the test holds open when they are rotated away.
"""

import logging
import random
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis
from django.db.models import Sum

from deployments.docker_api.archive import read_file
from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    inspect_container,
    signal_container,
    start_container,
)
from deployments.models import (
    AcceptanceSample,
    CounterCursor,
    DayRollup,
    LogCursor,
    LogGap,
    Replica,
)
from deployments.planning.container import LogOptions
from deployments.services.rollups import roll_up
from tests.docker_api.conftest import busybox_image
from tests.faults.kept_log import KeptLog
from tests.faults.processes import nothing_twice
from tests.faults.test_real_worker import Starter, celery, kill, within
from tests.services.rollout.world import World
from tests.services.test_log_reading import container

__all__ = ["busybox_image", "celery"]

logger = logging.getLogger(__name__)

pytestmark = [
    pytest.mark.docker,
    pytest.mark.faults,
    # Both of its kind empty the one Redis.
    pytest.mark.xdist_group("redis"),
]

SEED = 20261129
GENERATOR = """
n=$(cat /serial 2>/dev/null || echo 0)
trap 'stop=1' TERM
trap 'go=1' USR1
while [ $n = 0 ] && [ -z "$go$stop" ]; do sleep 0.1; done
while [ -z "$stop" ]; do
  n=$((n+1))
  echo $n > /serial.new && mv /serial.new /serial
  echo "(APIServer pid=1) INFO 11-29 17:37:00 [metrics.py:120] SpecDecoding metrics: Mean \
acceptance length: 2.00, Accepted throughput: 1.00 tokens/s, Drafted throughput: 1.00 tokens/s, \
Accepted: $n tokens, Drafted: $((3*n)) tokens, Per-position acceptance rate: 0.500, 0.300, 0.200, \
Avg Draft acceptance rate: 33.3%"
  sleep 0.05
done
"""
ROTATED_SOON = LogOptions(max_size="64k", max_file=2)
"""Eight to sixteen seconds of the generator."""
WORKER = ("worker", "--queues=default,rollout", "--concurrency=2", "--loglevel=WARNING")
ROTATION_S = 18.0


class Nemesis:
    """What goes wrong between two looks; each act leaves everything running."""

    def __init__(
        self, engine: Engine, replica: Replica, start: Starter, redis_url: str
    ) -> None:
        self.engine, self.replica, self.start = engine, replica, start
        self.redis = redis.Redis.from_url(redis_url)
        self.worker: subprocess.Popen[bytes] | None = None
        self.started = 0
        self.perhaps_unprinted: set[int] = set()
        self.each_reads = False
        self.new_worker()

    def new_worker(self) -> None:
        self.started += 1
        self.worker = self.start(*WORKER, f"--hostname=w{self.started}@%h")
        if self.each_reads:
            # However busy the machine is, this one shall read before the next thing goes wrong.
            samples = AcceptanceSample.objects.filter(replica=self.replica)
            known = samples.count()
            within(90, lambda: samples.count() > known)

    def kill_worker(self) -> None:
        assert self.worker is not None
        kill(self.worker)
        self.new_worker()

    def empty_queue(self) -> None:
        self.redis.flushall()

    def kill_engine(self) -> None:
        """A kill -9 may come between taking a number and printing it: which one, its file says."""
        self.stop("SIGKILL")
        container = self.replica.container_id
        taken = read_file(self.engine, container, "/serial", largest_bytes=99)
        self.perhaps_unprinted.add(int(taken or b"0"))
        start_container(self.engine, container)

    def restart_container(self) -> None:
        self.stop("SIGTERM")
        start_container(self.engine, self.replica.container_id)

    def let_it_rotate(self) -> None:
        """Nobody reads for longer than the log is kept."""
        assert self.worker is not None
        kill(self.worker)
        time.sleep(ROTATION_S)
        self.new_worker()

    def let_it_begin(self) -> bool:
        """The first number comes after the first look, however long a worker takes to start."""
        signal_container(self.engine, self.replica.container_id, "SIGUSR1")
        return AcceptanceSample.objects.filter(replica=self.replica).exists()

    def stop(self, signal: str) -> None:
        signal_container(self.engine, self.replica.container_id, signal)
        within(20, lambda: not self.running())

    def running(self) -> bool:
        facts = inspect_container(self.engine, self.replica.container_id)
        return facts is not None and facts.running

    @property
    def acts(self) -> tuple[Callable[[], None], ...]:
        """One of each; a random order of them is repeated."""
        return (
            self.kill_worker,
            self.restart_container,
            self.let_it_rotate,
            self.empty_queue,
            self.kill_engine,
        )


@pytest.fixture
def starter(celery: Starter, tmp_path: Path) -> Starter:
    """Starts workers; the clock that sends the rounds runs already."""
    celery("beat", "--loglevel=WARNING", "--pidfile=", f"--schedule={tmp_path / 'b'}")
    return celery


@pytest.mark.parametrize(
    "rounds", [3, pytest.param(100, marks=pytest.mark.slow)], ids=str
)
def test_stored_windows_are_the_generators_numbers(
    committed_world: World,
    busybox_image: str,
    starter: Starter,
    redis_url: str,
    rounds: int,
) -> None:
    world, chance = committed_world, random.Random(SEED)  # noqa: S311 - a repeatable order
    with world.engine() as engine, ExitStack() as stack:
        replica = container(world, engine, busybox_image, GENERATOR, ROTATED_SOON)
        log = stack.enter_context(KeptLog(engine, replica.container_id))
        nemesis = Nemesis(engine, replica, starter, redis_url)
        stored = AcceptanceSample.objects.filter(replica=replica)
        within(60, LogCursor.objects.filter(replica=replica).exists)
        within(60, nemesis.let_it_begin)
        nemesis.each_reads = True
        acts = nemesis.acts
        for place in range(rounds):
            act = acts[place] if place < len(acts) else chance.choice(acts)
            act()
            time.sleep(chance.uniform(0.5, 6.0))
        nemesis.stop("SIGTERM")
        # Its last run, for which there may be no cursors yet when the one before is finished.
        last = inspect_container(engine, replica.container_id)
        assert last is not None
        read = LogCursor.objects.filter(
            replica=replica, run_started_at=last.started_at, finished=True
        )
        within(120, lambda: read.count() == 2)
    numbers = list(stored.order_by("accepted").values_list("accepted", flat=True))
    assert len(set(numbers)) == len(numbers) > rounds
    assert numbers[0] == 1
    gaps = list(LogGap.objects.filter(replica=replica).values_list("from_ns", "to_ns"))
    written, known = log.written(), set(numbers)
    assert len(dict(written)) == len(written)
    unprinted = set(range(1, max(numbers) + 1)) - dict(written).keys()
    assert unprinted <= nemesis.perhaps_unprinted
    undeclared = [
        (number, at_ns)
        for number, at_ns in written
        if number not in known
        and not any(from_ns <= at_ns <= to_ns for from_ns, to_ns in gaps)
    ]
    facts = {"written": len(written), "stored": len(numbers), "gaps": len(gaps)}
    logger.info("what came of it: %s", {**facts, "unprinted": len(unprinted)})
    assert undeclared == []
    assert known <= dict(written).keys()
    nothing_twice_in_rows(replica, sum(numbers))


def nothing_twice_in_rows(replica: Replica, accepted: int) -> None:
    """What was counted by run, and what the roll-ups hold, is the sum of the samples."""
    while roll_up():
        pass
    day = DayRollup.objects.filter(replica=replica).aggregate(n=Sum("accepted"))
    assert day["n"] == accepted
    rows = CounterCursor.objects.filter(replica=replica)
    assert sum(row.counted[0] for row in rows) == accepted


def test_log_and_counters_of_a_killed_engine_are_counted_once(
    committed_world: World, starter: Starter, redis_url: str
) -> None:
    """The practice engine prints a window a second and has counters: both are read."""
    world = committed_world
    traffic = (("PRACTICE_TRAFFIC", "8"),)
    release = world.deploy(world.plan(world.replica(environment=traffic)))
    replica = release.replicas.get()
    with world.engine() as engine:
        nemesis = Nemesis(engine, replica, starter, redis_url)
        scraped = CounterCursor.objects.filter(replica=replica, scraped_ns__gt=0)
        within(60, scraped.exists)
        nemesis.kill_worker()
        nemesis.kill_engine()
        within(60, lambda: scraped.count() > 1)
        nemesis.stop("SIGKILL")
        unfinished = LogCursor.objects.filter(replica=replica, finished=False)
        within(60, lambda: not unfinished.exists())
    for row in CounterCursor.objects.filter(replica=replica):
        samples = AcceptanceSample.objects.filter(
            container_id=row.container_id, run_started_at=row.run_started_at
        )
        total = samples.aggregate(a=Sum("accepted"), d=Sum("drafted"))
        assert [total["a"], total["d"]] == row.counted[:2]
        assert row.counted[1] == max(row.read[1], row.logged[1]) > 0
        assert row.differs == {}
    nothing_twice(world, release)

"""What the panel adds to the engine's own work when it deploys 1, 20 or 100 small containers.

``python -m benchmarks.deploy_overhead [--counts 1 20 100] [--rounds 3] [--calls 12]`` starts a private
engine (needs root and ``docker compose``) and makes the same containers in three ways, in turns: the
panel, from the claim of a preflighted release whose image is there; ``docker compose up -d`` of the
panel's own file; and nothing but create and start with as many calls at once. Each ends when the
engine says that the last container has started. The preflight is measured apart, and so is the
processor time of this process beside the panel and beside the bare calls. Seconds depend on the
machine and on what else it does; the ratios of one run are what is judged, as the median of the
rounds. It fails where one is broken, and where a way takes longer than its deadline.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import django

from benchmarks.pages import Result
from benchmarks.small_engine import CALL_S, IMAGE, SmallEngine, Started, small_engine

if TYPE_CHECKING:
    from deployments.models import Command
    from deployments.planning.plan import Plan
    from tests.services.rollout.world import World

COUNTS, CALLS = (1, 20, 100), 12
LEAST_ROUNDS = 3
ROUNDS = {1: 9, 20: 5, 100: 3}
FIXED_S, EACH_S = 60.0, 1.5
"""How long one way may take: a fixed time, and so much more for each container."""
FIRST_PORT = 21_000
LIMITS = {(1, "compose"): 1.3, (100, "compose"): 1.0, (100, "raw API"): 1.2}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deploy_overhead")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    parser.add_argument(
        "--rounds", type=int, help="of each way; else fewer of longer ones"
    )
    parser.add_argument("--calls", type=int, default=CALLS)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.setdefault("DEBUG", "1")
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder / 'panel.sqlite3'}")
        # What wakes workers is not measured: the slices of the command are run here.
        os.environ["REDIS_URL"] = "redis://127.0.0.1:1/0"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
        django.setup()
        from django.core.management import call_command  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        with small_engine(folder / "engine") as engine:
            measured = Measured(engine, folder, asked.calls)
            results = [
                one
                for count in asked.counts
                for one in measured.compare(
                    count, asked.rounds or ROUNDS.get(count, LEAST_ROUNDS)
                )
            ]
    return 0 if all(one.kept for one in results) else 1


class Measured:
    """One engine on which the ways take turns."""

    def __init__(self, engine: SmallEngine, folder: Path, calls: int) -> None:
        self._engine, self._folder, self._calls = engine, folder, calls
        self._address, self._image = engine.address, engine.image_id
        self.preflights: list[float] = []
        self.worked_s = 0.0

    def compare(self, count: int, rounds: int) -> list[Result]:
        """Every way so often, in turns; the medians and their ratios, printed as they come."""
        ways: dict[str, Callable[[int], float]] = {
            "panel": self._by_panel,
            "compose": self._by_compose,
            "raw API": self._by_calls,
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        worked: dict[str, list[float]] = {name: [] for name in ways}
        self.preflights.clear()
        for number in range(rounds):
            order = list(ways)
            for name in order[number % 3 :] + order[: number % 3]:
                taken[name].append(ways[name](count))
                worked[name].append(self.worked_s)
                self._engine.clean()
            told = (f"{name} {times[-1]:.2f}" for name, times in taken.items())
            sys.stderr.write(f"{count}, round {number + 1}: {', '.join(told)}\n")
        found = [
            Result(name=f"{count} by {name}", value=statistics.median(times), unit="s")
            for name, times in taken.items()
        ]
        found += [
            Result(
                name=f"{count} by {name}: processor time here",
                value=statistics.median(worked[name]),
                unit="s",
            )
            for name in ("panel", "raw API")
        ]
        preflight = statistics.median(self.preflights)
        found.append(
            Result(name=f"{count}: preflight, apart", value=preflight, unit="s")
        )
        for other in ("compose", "raw API"):
            pairs = zip(taken["panel"], taken[other], strict=True)
            found.append(
                Result(
                    name=f"{count}: panel over {other}, median of {rounds}",
                    value=statistics.median(mine / theirs for mine, theirs in pairs),
                    limit=LIMITS.get((count, other)),
                )
            )
        for one in found:
            sys.stdout.write(f"{one}\n")
        sys.stdout.flush()
        return found

    def _by_panel(self, count: int) -> float:
        from deployments.services.rollout.executor import run_command  # noqa: PLC0415

        command = self._preflighted(count)
        with self._until_started(count) as started:
            end = time.monotonic() + FIXED_S + EACH_S * count
            while not started.is_set() and time.monotonic() < end:
                run_command(command.pk)
                type(command).objects.filter(pk=command.pk).update(not_before=None)
        return started.seconds

    def _preflighted(self, count: int) -> "Command":
        """A release of this many replicas that waits for a worker."""
        from django.utils import timezone  # noqa: PLC0415

        from deployments.models import Preflight, RequestState  # noqa: PLC0415
        from deployments.services.releases import start_release  # noqa: PLC0415
        from deployments.services.rollout.trial import run_preflight  # noqa: PLC0415
        from tests.plan_rows import request_for, stored, vote  # noqa: PLC0415

        world, plan = self._planned(count)
        request = request_for(stored(world.deployment, plan), RequestState.APPROVED)
        vote(request, world.bob)
        preflight = Preflight.objects.create(request=request, asked_at=timezone.now())
        begun = time.monotonic()
        run_preflight(preflight.pk)
        self.preflights.append(time.monotonic() - begun)
        release = start_release(world.alice, request, uuid.uuid4().hex)
        command: Command = release.commands.get()
        return command

    def _planned(self, count: int) -> "tuple[World, Plan]":
        from deployments.planning.container import (  # noqa: PLC0415
            ImageReference,
            PortMapping,
        )
        from tests.services.rollout.world import make_world  # noqa: PLC0415

        world = make_world(self._address, self._image)
        replicas = []
        for rank in range(count):
            made = world.replica(rank=rank, port=FIRST_PORT + rank)
            spec = replace(
                made.container,
                image=ImageReference(reference=IMAGE, image_id=self._image),
                command=("/busybox", "sleep", "3600"),
                ports=(
                    PortMapping(
                        host=FIRST_PORT + rank,
                        container=8000,
                        purpose="api",
                        host_address="127.0.0.1",
                    ),
                ),
            )
            replicas.append(replace(made, container=spec))
        return world, world.plan(*replicas)

    def _by_compose(self, count: int) -> float:
        from deployments.planning.launch.compose import compose_file  # noqa: PLC0415

        _world, plan = self._planned(count)
        file = self._folder / f"compose-{uuid.uuid4().hex[:8]}.yaml"
        specs = [one.container for one in plan.replicas]
        file.write_text(compose_file(specs), encoding="utf-8")
        program = which("docker") or "docker"
        with self._until_started(count) as started:
            subprocess.run(  # noqa: S603 - our own file
                [program, "compose", "-p", file.stem, "-f", str(file), "up", "-d"],
                check=True,
                capture_output=True,
                timeout=FIXED_S + EACH_S * count,
                env={**os.environ, "DOCKER_HOST": self._address},
            )
        return started.seconds

    def _by_calls(self, count: int) -> float:
        from deployments.docker_api.client import open_engine  # noqa: PLC0415
        from deployments.planning.launch.engine_api import create_body  # noqa: PLC0415

        _world, plan = self._planned(count)
        bodies = [
            (one.container.name, create_body(one.container, {}))
            for one in plan.replicas
        ]
        todo = iter(bodies)
        lock = threading.Lock()

        def work() -> None:
            with open_engine(self._address, timeout_s=CALL_S) as engine:
                while True:
                    with lock:
                        name, body = next(todo, ("", None))
                    if body is None:
                        return
                    body = {**body, "Image": self._image}
                    engine.call(
                        "POST",
                        "/containers/create",
                        act="create",
                        params={"name": name},
                        body=body,
                    )
                    engine.call("POST", f"/containers/{name}/start", act="start")

        with (
            self._until_started(count) as started,
            ThreadPoolExecutor(self._calls) as pool,
        ):
            for future in [pool.submit(work) for _ in range(min(self._calls, count))]:
                future.result()
        return started.seconds

    @contextmanager
    def _until_started(self, count: int) -> Iterator[Started]:
        begun = time.process_time()
        longest_s = FIXED_S + EACH_S * count
        with self._engine.until_started(count, longest_s) as started:
            yield started
        self.worked_s = time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())

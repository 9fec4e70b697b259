"""A seeded random mix of acts and faults on several real engines: ``python -m tests.faults.rounds``.

``--rounds 100 --seed 7 --engines 3 --database postgres``; needs root. Every engine stands behind a proxy that drops, cuts
or delays answers after it has forwarded the request; workers are processes that are killed at random
fault points; engines are killed, stopped and frozen, and PostgreSQL, where it is asked for, crashes; people stop and remove containers past the panel. After each round
everything heals, and what must hold is read from the engines. History goes to standard output as JSON
lines; the first breach ends the run with its seed.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import django
import docker

if TYPE_CHECKING:
    from docker.models.containers import Container

    from deployments.models import Command
    from tests.environment.docker_engine import PrivateEngine
    from tests.environment.postgres import PrivatePostgres
    from tests.faults.proxy import FaultyProxy
    from tests.services.rollout.world import World

ENGINES, ROUNDS = 3, 20
CONVERGE_S = 120.0
LABEL = "draftboard.replica"
FOREIGN = "not-of-the-panel"
FAULTS = ("before", "after", "done")
STEPS = ("BOOK", "CREATE", "START", "SMOKE", "SWITCH", "UNDO", "STOP", "REMOVE_OLD")
REQUESTS = (b"/containers/create", b"/start ", b"/json", b"/kill", b"DELETE ")


FAULTS_OF_PARTS = (
    "crash database", "none", "drop", "cut", "delay", "kill worker", "kill engine",
    "stop engine", "freeze engine",
)  # fmt: skip
FREEZE_S = (1.0, 12.0)
"""Up to longer than one call waits for its answer."""


class BreachError(Exception):
    """Something that must hold does not; the message says what was seen where."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rounds; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.rounds")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--engines", type=int, default=ENGINES)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    asked = parser.parse_args(arguments)
    # Whoever ends it early leaves no engines behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as name, ExitStack() as parts:
        folder = Path(name)
        database = _database(folder, parts) if asked.database == "postgres" else None
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder / 'panel.sqlite3'}")
        os.environ.update(
            DEBUG="1",
            DJANGO_SETTINGS_MODULE="panel.settings",
            REDIS_URL="redis://127.0.0.1:1/0",
        )
        django.setup()
        from django.core.management import call_command  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        sites = [
            parts.enter_context(_site(folder / f"engine-{number}"))
            for number in range(asked.engines)
        ]
        chance = random.Random(asked.seed)  # noqa: S311 - repeatable
        mix = Mix(chance, sites, database)
        for number in range(asked.rounds):
            try:
                mix.round(number)
            except BreachError as error:
                _tell(seed=asked.seed, round=number, breach=str(error))
                return 1
        _tell(seed=asked.seed, rounds=asked.rounds, acts=dict(mix.done))
    return 0


def _database(folder: Path, parts: ExitStack) -> "PrivatePostgres":
    from tests.environment.postgres import PrivatePostgres  # noqa: PLC0415

    folder.chmod(0o711)  # PostgreSQL's own user passes through
    database = PrivatePostgres(folder / "postgres")
    parts.callback(database.stop)
    database.start()
    os.environ["DATABASE_URL"] = database.url
    return database


def _tell(**facts: object) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


class Site:
    """One engine behind its proxy, the deployments on it, and a container of somebody else."""

    def __init__(
        self, engine: "PrivateEngine", proxy: "FaultyProxy", worlds: "list[World]"
    ) -> None:
        self.engine, self.proxy, self.worlds = engine, proxy, worlds
        from tests.services.rollout.world import free_port  # noqa: PLC0415

        self.direct = docker.DockerClient(base_url=engine.url, timeout=60)
        self.port = free_port()
        image = worlds[0].image_id
        self.foreign = self.direct.containers.run(
            image, ["sleep", "100000"], entrypoint="", name=FOREIGN, detach=True
        )

    def containers(self) -> "list[Container]":
        """All containers that carry a label of the panel, running or not."""
        return list(self.direct.containers.list(all=True, filters={"label": LABEL}))


@contextmanager
def _site(folder: Path) -> Iterator[Site]:
    from deployments.docker_api.client import open_engine  # noqa: PLC0415
    from deployments.docker_api.images import import_image  # noqa: PLC0415
    from practice.image import (  # noqa: PLC0415
        IMPORT_CHANGES,
        PRACTICE_IMAGE,
        write_root_filesystem,
    )
    from tests.environment.docker_engine import PrivateEngine  # noqa: PLC0415
    from tests.factories import DeploymentFactory  # noqa: PLC0415
    from tests.faults.proxy import FaultyProxy  # noqa: PLC0415
    from tests.services.rollout.world import make_world  # noqa: PLC0415

    engine = PrivateEngine(folder)
    try:
        engine.start()
        archive = folder / "root.tar"
        write_root_filesystem(archive)
        repository, _colon, tag = PRACTICE_IMAGE.rpartition(":")
        with open_engine(engine.url) as client, archive.open("rb") as content:
            image = import_image(
                client, content, repository=repository, tag=tag, changes=IMPORT_CHANGES
            )
        proxy = FaultyProxy(engine.url.removeprefix("unix://"), folder / "proxy.sock")
        world = make_world(proxy.address, image)
        other = replace(
            world,
            deployment=DeploymentFactory.create(
                cluster=world.host.cluster,
                name=f"{world.deployment.name}b",
                created_by=world.alice,
            ),
        )
        yield Site(engine, proxy, [world, other])
        proxy.close()
    finally:
        engine.stop()


class Mix:
    """Acts and faults, drawn from one generator."""

    def __init__(
        self,
        chance: random.Random,
        sites: list[Site],
        database: "PrivatePostgres | None",
    ) -> None:
        self._chance, self._sites, self._database = chance, sites, database
        self.done: Counter[str] = Counter()

    def round(self, number: int) -> None:
        """One act on every engine under one fault each; then heal, converge, and look.

        Raises:
            BreachError: something that must hold does not.
        """
        begun = []
        for site in self._sites:
            act = self._chance.choice(
                (self._deploy, self._deploy, self._stop, self._cancel, self._meddle)
            )
            fault = self._chance.choice(
                FAULTS_OF_PARTS if self._database else FAULTS_OF_PARTS[1:]
            )
            act(site)
            self.done[act.__name__.lstrip("_")] += 1
            self.done[fault] += 1
            begun.append((site, fault, act.__name__.lstrip("_")))
            self._work(site, fault)
        for site in self._sites:
            self._heal(site)
            self._converge(site)
            self._look(site)
        _tell(round=number, acts=[[act, fault] for _site, fault, act in begun])

    def _deploy(self, site: Site) -> None:
        """Start a release; both deployments want the same port, so one may queue behind the other."""
        from deployments.models import CHANGING_STATES  # noqa: PLC0415
        from tests.services.rollout.world import QUICK  # noqa: PLC0415

        world = self._chance.choice(site.worlds)
        if world.deployment.releases.filter(state__in=CHANGING_STATES).exists():
            return
        number = world.deployment.revisions.count() + 1
        broken = (("PRACTICE_OUT_OF_MEMORY", "cuda"),)
        environment = self._chance.choice(((), (), (), broken))
        replica = world.replica(
            number=number, port=site.port, environment=(*QUICK, *environment)
        )
        world.host.refresh_from_db()
        world.release(world.plan(replica, number=number))

    def _stop(self, site: Site) -> None:
        from deployments.models import ReleaseState  # noqa: PLC0415
        from deployments.services.errors import UseCaseError  # noqa: PLC0415
        from deployments.services.releases import stop_release  # noqa: PLC0415

        for world in site.worlds:
            for release in world.deployment.releases.filter(state=ReleaseState.LIVE):
                with suppress(UseCaseError):
                    stop_release(world.alice, release, f"stop-{self._chance.random()}")
                return

    def _cancel(self, site: Site) -> None:
        from deployments.services.errors import UseCaseError  # noqa: PLC0415
        from deployments.services.releases import cancel_release  # noqa: PLC0415

        self._deploy(site)
        for command in self._open(site):
            with suppress(UseCaseError):
                cancel_release(site.worlds[0].alice, command.release)

    def _meddle(self, site: Site) -> None:
        """Somebody stops, removes or renames a container past the panel."""
        running = [one for one in site.containers() if one.status == "running"]
        if not running:
            return
        one = self._chance.choice(running)
        how = self._chance.choice(("stop", "remove", "rename"))
        with suppress(docker.errors.APIError):
            if how == "stop":
                one.stop(timeout=1)
            elif how == "remove":
                one.remove(force=True)
            else:
                one.rename(f"renamed-{self._chance.randrange(10**6)}")

    def _work(self, site: Site, fault: str) -> None:
        """Let a worker carry on every open command for a while, under the fault."""
        from tests.faults.processes import lease_runs_out, start_worker  # noqa: PLC0415

        point = f"{self._chance.choice(FAULTS)}:{self._chance.choice(STEPS)}:kill9"
        if fault in {"drop", "cut", "delay"}:
            site.proxy.plan(fault, self._chance.choice(REQUESTS))
        for command in self._open(site):
            points = (point,) if fault == "kill worker" else ()
            with start_worker("command", command.pk, *points) as worker:
                self._break(site, fault)
                with suppress(Exception):
                    worker.wait(self._chance.uniform(5, 25))
                worker.kill()
            lease_runs_out(command)

    def _break(self, site: Site, fault: str) -> None:
        """What goes wrong with a part while a worker works."""
        from django.db import connections  # noqa: PLC0415

        if fault not in {
            "kill engine",
            "stop engine",
            "freeze engine",
            "crash database",
        }:
            return
        time.sleep(self._chance.uniform(2, 6))
        if fault == "crash database" and self._database is not None:
            self._database.crash()
            connections.close_all()
        elif fault == "freeze engine":
            site.engine.kill(signal.SIGSTOP)
            time.sleep(self._chance.uniform(*FREEZE_S))
            site.engine.kill(signal.SIGCONT)
        else:
            site.engine.kill(
                signal.SIGKILL if fault == "kill engine" else signal.SIGTERM
            )
            site.engine.launch()

    def _heal(self, site: Site) -> None:
        site.proxy.heal()
        if not site.engine.answers():
            site.engine.launch()

    def _converge(self, site: Site) -> None:
        from deployments.models import Command  # noqa: PLC0415
        from deployments.services.replica_observation import (  # noqa: PLC0415
            observe_host,
        )
        from deployments.services.rollout.executor import run_command  # noqa: PLC0415

        until = time.monotonic() + CONVERGE_S
        waiting: list[Command] = []
        while time.monotonic() < until:
            site.worlds[0].host.__class__.objects.update(
                failed_calls=0, next_try_at=None
            )
            observe_host(site.worlds[0].host.pk)
            waiting = [one for one in self._open(site) if not self._queued(one)]
            if not waiting:
                return
            for command in waiting:
                Command.objects.filter(pk=command.pk).update(not_before=None)
                run_command(command.pk)
            for command in self._open(site):
                if self._queued(command):
                    run_command(command.pk)
            time.sleep(0.2)
        raise BreachError(f"{site.engine.url} did not converge: {waiting}")

    def _queued(self, command: "Command") -> bool:
        """Whether it rightly waits behind a release that is live."""
        from deployments.models import QueuedBooking  # noqa: PLC0415

        rows = QueuedBooking.objects.filter(replica__release=command.release)
        return rows.exists() and command.cancel_requested_at is None

    def _open(self, site: Site) -> "list[Command]":
        from deployments.models import Command, CommandState  # noqa: PLC0415

        rows = Command.objects.filter(
            release__deployment__in=[one.deployment for one in site.worlds],
            state__in=[CommandState.READY, CommandState.RUNNING],
        )
        return list(rows.select_related("release"))

    def _look(self, site: Site) -> None:
        """What must hold, as the engine shows it."""
        from deployments.models import (  # noqa: PLC0415
            Booking,
            Release,
            ReleaseState,
            Replica,
            ReplicaState,
        )
        from deployments.services.approvals import check_approval  # noqa: PLC0415

        there = site.containers()
        running = [one for one in there if one.status == "running"]
        rows = {str(one.pk): one for one in Replica.objects.select_related("release")}
        self._prove(
            not [one for one in there if one.labels[LABEL] not in rows],
            "a container with our label has no row",
        )
        labels = Counter(one.labels[LABEL] for one in running)
        self._prove(
            max(labels.values(), default=1) == 1, f"a replica runs twice: {labels}"
        )
        ports = Counter(
            port["HostPort"]
            for one in running
            for mapped in one.attrs["NetworkSettings"]["Ports"].values()
            for port in mapped or ()
        )
        self._prove(
            max(ports.values(), default=1) == 1, f"a port is used twice: {ports}"
        )
        held = Booking.objects.filter(host=site.worlds[0].host, released_at=None)
        booked = sorted(filter(None, held.values_list("port", flat=True)))
        used = sorted(int(port) for port in ports)
        self._prove(set(used) <= set(booked), f"{used} run, {booked} are booked")
        states = Release.objects.filter(
            deployment__in=[one.deployment for one in site.worlds],
            state=ReleaseState.LIVE,
        )
        for release in states:
            for row in release.replicas.filter(state=ReplicaState.RUNNING, drift=""):
                self._prove(
                    str(row.pk) in labels, f"{release} is live, {row} does not run"
                )
        for one in running:
            release = rows[one.labels[LABEL]].release
            self._prove(
                one.labels["draftboard.digest"] == release.plan.digest,
                f"{one.name} has another digest than its release",
            )
            check_approval(release.request)
        self._foreign(site)

    def _foreign(self, site: Site) -> None:
        now = site.direct.containers.get(FOREIGN)
        same = (now.id, now.attrs["Created"]) == (
            site.foreign.id,
            site.foreign.attrs["Created"],
        )
        self._prove(same, "a container of somebody else was touched")

    @staticmethod
    def _prove(holds: bool, breach: str) -> None:  # noqa: FBT001 - reads as a sentence
        if not holds:
            raise BreachError(breach)


if __name__ == "__main__":
    sys.exit(main())

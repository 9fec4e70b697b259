"""Worker processes on the database of the test, and what must hold whatever happened to them."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from django.db import connection
from django.db.models import Count
from django.db.models.functions import Now

from deployments.models import (
    AcceptanceSample,
    Booking,
    Command,
    EventKind,
    Release,
    ReleaseEvent,
)
from tests.services.rollout.world import World

ROOT = Path(__file__).resolve().parents[2]
SCALED = {
    "COMMAND_LEASE_SECONDS": "3",
    "COMMAND_HEARTBEAT_SECONDS": "1",
    "COMMAND_SWEEP_SECONDS": "1",
}
"""A tenth of the real times; one release with real workers and real times proves those."""


def database_url() -> str:
    """The address of the database that this test writes to."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    user, password = quote(values["USER"]), quote(values["PASSWORD"])
    host = quote(values["HOST"] or "", safe="")
    return f"postgres://{user}:{password}@{host}:{values['PORT']}/{values['NAME']}"


def environment(**changes: str) -> dict[str, str]:
    """The environment of a process of the panel on this test's database."""
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "DEBUG": "1",
        "DJANGO_SETTINGS_MODULE": "panel.settings",
        **changes,
    }


def start_worker(kind: str, target: object, *faults: str) -> "subprocess.Popen[bytes]":
    """Start a worker process; ``kind`` is ``command`` or ``logs``."""
    command = [sys.executable, "-m", "tests.faults.worker", kind, str(target), *faults]
    return subprocess.Popen(command, cwd=ROOT, env=environment(**SCALED))


def work(kind: str, target: object, *faults: str) -> int:
    """Run a worker process to its end; gives its exit code (-9: killed)."""
    with start_worker(kind, target, *faults) as worker:
        return worker.wait(120)


def lease_runs_out(command: Command) -> None:
    """As if half a minute passed without the owner."""
    Command.objects.filter(pk=command.pk).update(
        lease_until=Now() - timedelta(seconds=1)
    )


def command_of(release: Release) -> Command:
    """The newest command of a release."""
    return Command.objects.filter(release=release).latest("created_at")


def nothing_twice(world: World, release: Release) -> None:
    """No act was recorded as done twice, no device held twice, no sample stored twice."""
    done = (
        ReleaseEvent.objects.filter(release=release, kind=EventKind.DONE)
        .values("step", "replica", "detail__command")
        .annotate(times=Count("pk"))
        .filter(times__gt=1)
    )
    assert list(done) == []
    held = (
        Booking.objects.filter(host=world.host, released_at=None)
        .values("device", "port")
        .annotate(times=Count("pk"))
        .filter(times__gt=1)
    )
    assert list(held) == []
    keys = ("container_id", "run_started_at", "stream", "timestamp_ns", "sequence")
    samples = AcceptanceSample.objects.values(*keys).annotate(times=Count("pk"))
    assert list(samples.filter(times__gt=1)) == []

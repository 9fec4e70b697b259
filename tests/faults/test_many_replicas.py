"""kill -9 of workers in the middle of a hundred replicas: the engine shows each of them made and started once."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from threading import Thread
from typing import Any

import docker
import pytest

from deployments.models import Booking, EventKind, Release, ReleaseState
from tests.faults.processes import (
    command_of,
    lease_runs_out,
    nothing_twice,
    start_worker,
    work,
)
from tests.faults.test_real_worker import within
from tests.services.rollout.world import World, free_port

pytestmark = [pytest.mark.docker, pytest.mark.slow]

COUNT = 100
WITHIN_S = 600.0


def killed_when(release: Release, reached: Callable[[], bool]) -> None:
    """Let a worker go on until something is reached, end it with kill -9, and let its lease run out."""
    command = command_of(release)
    with start_worker("command", command.pk) as worker:
        end = time.monotonic() + WITHIN_S
        while not reached():
            assert time.monotonic() < end
            assert worker.poll() is None
            time.sleep(0.02)
        worker.kill()
        assert worker.wait() == -9
    lease_runs_out(command)


def different_ports(count: int) -> list[int]:
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return sorted(found)


def count_acts(
    events: Iterable[dict[str, Any]], acts: Counter[tuple[str, str]]
) -> None:
    """Count what the engine says that it did, by act and container."""
    for one in events:
        if one["Action"] in {"create", "start", "die", "destroy"}:
            acts[one["Action"], one["Actor"]["Attributes"]["name"]] += 1


def test_a_hundred_replicas_are_made_once_whoever_is_killed_meanwhile(
    committed_world: World,
) -> None:
    world = committed_world
    planned = [
        world.replica(rank=rank, port=port, ready_deadline_s=600)
        for rank, port in enumerate(different_ports(COUNT))
    ]
    names = {one.container.name for one in planned}
    with closing(docker.DockerClient(base_url=world.host.docker_address)) as client:
        instance = {"label": f"draftboard.instance={world.host.pk}"}
        acts: Counter[tuple[str, str]] = Counter()
        # The engine remembers 256 events, which are fewer than there will be.
        events = client.events(decode=True, filters={**instance, "type": "container"})
        listening = Thread(target=count_acts, args=(events, acts), daemon=True)
        listening.start()
        release = world.release(world.plan(*planned))

        def there(state: str) -> int:
            wanted = {**instance, "status": [state]}
            return len(client.api.containers(all=True, filters=wanted))

        killed_when(release, lambda: there("created") >= COUNT // 3)
        killed_when(release, lambda: there("running") >= COUNT // 3)
        killed_when(release, lambda: there("running") >= 2 * COUNT // 3)
        command = command_of(release)
        for _slice in range(5):
            work("command", command.pk)
            command.refresh_from_db()
            if command.finished_at is not None:
                break
        seen = [
            client.api.inspect_container(one["Id"])
            for one in client.api.containers(all=True, filters=instance)
        ]
        within(60, lambda: acts.total() >= 2 * COUNT)
        events.close()
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE
    assert {one["Name"].lstrip("/") for one in seen} == names
    assert len(seen) == COUNT
    assert all(one["State"]["Running"] and not one["RestartCount"] for one in seen)
    assert acts == Counter((act, name) for act in ("create", "start") for name in names)
    held = Booking.objects.filter(host=world.host, released_at=None)
    assert held.count() == COUNT
    taken_over = release.events.filter(
        kind=EventKind.NOTE, detail__has_key="taken_over"
    )
    assert taken_over.count() == 3
    nothing_twice(world, release)

"""How long it takes until the panel shows what happened outside, by the real schedule, workers and clock."""

from pathlib import Path

import pytest

from deployments.docker_api.containers import (
    remove_container,
    rename_container,
    signal_container,
)
from deployments.models import (
    Command,
    CommandState,
    Host,
    Reachability,
    ReleaseState,
    Replica,
)
from tests.faults.processes import work
from tests.faults.test_delivery import lossy
from tests.faults.test_real_worker import Starter, celery, within
from tests.services.rollout.world import World, remove_when_dead

__all__ = ["celery"]

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    # Both of its kind empty the one Redis.
    pytest.mark.xdist_group("redis"),
]

SHOWN_WITHIN_S = 15
TAKEN_OVER_WITHIN_S = 35
LONGEST_S = 120


def begin(celery: Starter, folder: Path) -> None:
    """The schedule and one worker, as the panel runs them."""
    celery("beat", "--loglevel=INFO", "--pidfile=", f"--schedule={folder / 'beat'}")
    celery(
        *("worker", "--queues=default,rollout", "--concurrency=2"),
        *("--loglevel=INFO", "--hostname=seen@%h"),
    )


def test_drift_and_a_host_that_is_down_are_shown_within_15_seconds(
    committed_world: World, celery: Starter, tmp_path: Path
) -> None:
    world = committed_world
    planned = [world.replica(rank=rank) for rank in range(3)]
    release = world.deploy(world.plan(*planned))
    assert release.state == ReleaseState.LIVE
    stopped, removed, renamed = release.replicas.order_by("rank")
    with lossy(world, tmp_path / "s") as proxy:
        seen_at = Host.objects.values_list("seen_at", flat=True)
        first = seen_at.get(pk=world.host.pk)
        begin(celery, tmp_path)
        within(LONGEST_S, lambda: seen_at.get(pk=world.host.pk) != first)
        with world.engine() as engine:
            signal_container(engine, stopped.container_id, "SIGKILL")
            signal_container(engine, removed.container_id, "SIGKILL")
            remove_when_dead(engine, removed.container_id)
            rename_container(engine, renamed.container_id, "somewhere-else")
        drifted = Replica.objects.filter(release=release).exclude(drift="")
        took = within(SHOWN_WITHIN_S, lambda: drifted.count() == 3)
        print(f"drift shown after {took:.1f} s")  # noqa: T201 - the measurement
        proxy.close()
        down = Host.objects.filter(
            pk=world.host.pk, reachability=Reachability.UNREACHABLE
        )
        took = within(SHOWN_WITHIN_S, down.exists)
        print(f"host down shown after {took:.1f} s")  # noqa: T201 - the measurement
    with world.engine() as engine:
        signal_container(engine, renamed.container_id, "SIGKILL")
        remove_when_dead(engine, renamed.container_id)
        remove_container(engine, stopped.container_id)


def test_a_killed_worker_is_taken_over_within_35_seconds(
    committed_world: World, celery: Starter, tmp_path: Path
) -> None:
    world = committed_world
    release = world.release(world.plan())
    command = Command.objects.get(release=release)
    taken = Command.objects.filter(pk=command.pk, fence__gte=2)
    assert work("command", command.pk, "after:CREATE:kill9") == -9
    # Schedule and worker have the half minute of the lease to come up.
    begin(celery, tmp_path)
    took = within(TAKEN_OVER_WITHIN_S, taken.exists)
    print(f"taken over after {took:.1f} s")  # noqa: T201 - the measurement
    done = Command.objects.filter(pk=command.pk, state=CommandState.DONE)
    within(60, done.exists)
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE
    assert len(world.our_containers()) == 1

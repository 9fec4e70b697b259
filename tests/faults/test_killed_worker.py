"""kill -9 of the worker at every place of a release: another ends it as if nothing had happened."""

import threading
import uuid
from dataclasses import replace

import pytest

from deployments.docker_api.images import find_image
from deployments.models import (
    AcceptanceSample,
    Booking,
    EventKind,
    Release,
    ReleaseState,
    ReplicaState,
)
from deployments.planning.container import ImageReference
from deployments.services.log_reading import read_host_logs
from deployments.services.releases import remove_release, stop_release
from tests.docker_api.registry import Registry, serving
from tests.faults.processes import (
    command_of,
    lease_runs_out,
    nothing_twice,
    start_worker,
    work,
)
from tests.services.rollout.world import (
    FAST_TRAFFIC,
    World,
    drive,
    free_port,
    only_replica,
)

pytestmark = [pytest.mark.docker, pytest.mark.faults]

KILLED = -9
BROKEN = (("PRACTICE_OUT_OF_MEMORY", "cuda"),)
FIRST_RELEASE = [
    "after:BOOK",
    "after:CREATE",
    "before:START",
    "after:START",
    "after:WAIT_READY",
    "after:SMOKE",
]
REPLACEMENT = [
    "after:STOP_OLD",
    "after:CREATE",
    "after:SWITCH",
    "after:REMOVE_OLD",
]


def killed_and_taken_over(release: Release, place: str) -> None:
    """Kill the first worker at a place, let its lease run out, and let a second one finish."""
    command = command_of(release)
    assert work("command", command.pk, f"{place}:kill9") == KILLED
    lease_runs_out(command)
    assert work("command", command.pk) == 0
    release.refresh_from_db()
    notes = release.events.filter(kind=EventKind.NOTE, detail__has_key="taken_over")
    assert notes.count() == 1


@pytest.mark.parametrize("place", FIRST_RELEASE)
def test_a_release_ends_live_with_one_container(
    committed_world: World, place: str
) -> None:
    world = committed_world
    planned = world.replica(environment=FAST_TRAFFIC)
    release = world.release(world.plan(planned))
    killed_and_taken_over(release, place)
    assert release.state == ReleaseState.LIVE
    assert world.our_containers() == [(planned.container.name, "running")]
    read_host_logs(world.host.pk)
    nothing_twice(world, release)


@pytest.mark.parametrize("place", REPLACEMENT)
def test_a_replacement_ends_with_the_new_container_alone(
    committed_world: World, place: str
) -> None:
    world, port = committed_world, free_port()
    old = world.deploy(world.plan(world.replica(port=port, environment=FAST_TRAFFIC)))
    planned = world.replica(number=2, port=port, environment=FAST_TRAFFIC)
    new = world.release(world.plan(planned, number=2))
    killed_and_taken_over(new, place)
    old.refresh_from_db()
    assert (new.state, old.state) == (ReleaseState.LIVE, ReleaseState.STOPPED)
    assert world.our_containers() == [(planned.container.name, "running")]
    held = Booking.objects.get(host=world.host, released_at=None)
    assert (held.port, held.replica) == (port, only_replica(new))
    read_host_logs(world.host.pk)
    nothing_twice(world, new)


@pytest.mark.parametrize("place", ["after:UNDO", "done:UNDO", "after:RESTORE_OLD"])
def test_a_failing_release_still_gives_the_old_one_back(
    committed_world: World, place: str
) -> None:
    world, port = committed_world, free_port()
    old = world.deploy(world.plan(world.replica(port=port)))
    planned = world.replica(number=2, port=port, environment=BROKEN)
    new = world.release(world.plan(planned, number=2))
    killed_and_taken_over(new, place)
    old.refresh_from_db()
    assert (new.state, old.state) == (ReleaseState.FAILED, ReleaseState.LIVE)
    assert only_replica(old).state == ReplicaState.RUNNING
    held = Booking.objects.get(host=world.host, released_at=None)
    assert (held.port, held.replica) == (port, only_replica(old))
    nothing_twice(world, new)


@pytest.mark.parametrize("kind", ["STOP", "REMOVE"])
def test_stop_and_remove_end_too(committed_world: World, kind: str) -> None:
    world = committed_world
    release = world.deploy(world.plan())
    stop_release(world.alice, release, uuid.uuid4().hex)
    if kind == "REMOVE":
        drive(release)
        remove_release(world.alice, release, uuid.uuid4().hex)
    killed_and_taken_over(release, f"after:{kind}")
    assert release.state == ReleaseState.STOPPED
    left = (
        [] if kind == "REMOVE" else [(only_replica(release).container_name, "exited")]
    )
    assert world.our_containers() == left
    assert not Booking.objects.filter(host=world.host, released_at=None).exists()


def test_the_deadline_of_readiness_is_not_begun_anew(committed_world: World) -> None:
    world = committed_world
    release = world.release(
        world.plan(world.replica(environment=(("PRACTICE_READY_AFTER", "4"),)))
    )
    command = command_of(release)
    assert work("command", command.pk, "after:WAIT_READY:kill9") == KILLED
    release.refresh_from_db()
    deadline = release.deadline_at
    lease_runs_out(command)
    assert work("command", command.pk, "after:SMOKE:kill9") == KILLED
    drive_past = release.events.filter(step="WAIT_READY", kind=EventKind.INTENT)
    assert drive_past.count() == 1
    assert deadline is not None
    lease_runs_out(command)
    assert work("command", command.pk) == 0


def test_a_pull_goes_on_after_its_worker_was_killed_half_way(
    committed_world: World,
) -> None:
    world = committed_world
    stall = threading.Event()
    served = Registry(salt=uuid.uuid4().hex, halve=True, stall=stall)
    with serving(served) as registry:
        image = ImageReference(reference=registry.reference, digest=registry.digest)
        planned = replace(world.replica(image=image), practice=False)
        release = world.release(world.plan(planned))
        command = command_of(release)
        with start_worker("command", command.pk) as first:
            assert registry.half.wait(60)
            first.kill()
        pulled = release.events.filter(step="PULL", kind=EventKind.DONE)
        assert not pulled.exists()
        registry.halve = False
        stall.set()
        lease_runs_out(command)
        drive(release, done="PULL")
        assert pulled.count() == 1
        with world.engine() as engine:
            found = find_image(engine, registry.reference, digest=registry.digest)
            assert found is not None
            assert only_replica(release).image_id == found.image_id
    notes = release.events.filter(kind=EventKind.NOTE, detail__has_key="taken_over")
    assert notes.count() == 1
    nothing_twice(world, release)


def test_samples_and_cursor_are_stored_together_or_not_at_all(
    committed_world: World,
) -> None:
    world = committed_world
    release = world.deploy(world.plan(world.replica(environment=FAST_TRAFFIC)))
    replica = only_replica(release)
    world.until_accepted(release, 2)
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    assert work("logs", world.host.pk, "after:SAMPLES:kill9") == KILLED
    assert not AcceptanceSample.objects.filter(replica=replica).exists()
    assert work("logs", world.host.pk) == 0
    stored = AcceptanceSample.objects.filter(replica=replica)
    with world.engine() as engine:
        log = engine.api.get(
            engine.url(f"/containers/{replica.container_id}/logs?stdout=1"), timeout=10
        )
    assert stored.count() == log.content.count(b"SpecDecoding metrics:") > 0
    nothing_twice(world, release)

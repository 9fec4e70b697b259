"""One release gives way to the next; the old one serves again when the new one fails."""

import pytest

from deployments.docker_api.containers import inspect_container
from deployments.models import (
    AcceptanceSample,
    Booking,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.planning.plan import ReplaceStrategy
from deployments.services.releases import cancel_release
from deployments.services.rollout.probe import Endpoint, is_healthy
from tests.services.rollout.world import (
    FAST_TRAFFIC,
    World,
    drive,
    free_port,
    only_replica,
)

pytestmark = pytest.mark.docker

BROKEN = (("PRACTICE_OUT_OF_MEMORY", "cuda"),)


def states(*releases: Release) -> list[str]:
    for release in releases:
        release.refresh_from_db()
    return [release.state for release in releases]


def booked(world: World) -> dict[tuple[str, int], str]:
    """What is held on the host, and by which container."""
    held = Booking.objects.filter(host=world.host, released_at=None)
    return {
        ("device", one.device)
        if one.device is not None
        else ("port", one.port or 0): one.replica.container_name
        for one in held.select_related("replica")
    }


def test_the_new_release_takes_devices_and_port_of_the_old(world: World) -> None:
    port = free_port()
    old = world.deploy(world.plan(world.replica(port=port, devices=(0,))))
    planned = world.replica(number=2, port=port, devices=(0,))
    new = world.deploy(world.plan(planned, number=2))
    assert states(old, new) == [ReleaseState.STOPPED, ReleaseState.LIVE]
    name = planned.container.name
    assert booked(world) == {("device", 0): name, ("port", port): name}
    assert world.our_containers() == [(name, "running")]
    assert only_replica(old).state == ReplicaState.REMOVED


def test_a_failing_new_release_gives_the_old_one_back(world: World) -> None:
    port = free_port()
    old = world.deploy(world.plan(world.replica(port=port, devices=(0, 1))))
    planned = world.replica(number=2, port=port, devices=(0,), environment=BROKEN)
    new = world.deploy(world.plan(planned, number=2))
    assert states(old, new) == [ReleaseState.LIVE, ReleaseState.FAILED]
    assert f"{old} serves again" in new.cause
    name = only_replica(old).container_name
    assert booked(world) == {
        ("device", 0): name,
        ("device", 1): name,
        ("port", port): name,
    }
    assert world.our_containers() == [
        (name, "running"),
        (planned.container.name, "exited"),
    ]
    assert only_replica(old).state == ReplicaState.RUNNING


def test_create_then_remove_keeps_the_old_serving_until_the_switch(
    world: World, one_act_per_slice: None
) -> None:
    old_port = free_port()
    old = world.deploy(world.plan(world.replica(port=old_port)))
    planned = world.replica(number=2)
    plan = world.plan(planned, number=2, strategy=ReplaceStrategy.CREATE_THEN_REMOVE)
    new = world.release(plan)
    drive(new, done="SMOKE")
    assert is_healthy(Endpoint("127.0.0.1", old_port))
    assert states(old, new) == [ReleaseState.LIVE, ReleaseState.VERIFYING]
    drive(new)
    assert states(old, new) == [ReleaseState.STOPPED, ReleaseState.LIVE]
    assert world.our_containers() == [(planned.container.name, "running")]


def test_create_then_remove_that_fails_never_touches_the_old(world: World) -> None:
    old = world.deploy(world.plan(world.replica()))
    replica = only_replica(old)
    with world.engine() as engine:
        before = inspect_container(engine, replica.container_id)
        planned = world.replica(number=2, environment=BROKEN)
        strategy = ReplaceStrategy.CREATE_THEN_REMOVE
        new = world.deploy(world.plan(planned, number=2, strategy=strategy))
        after = inspect_container(engine, replica.container_id)
    assert states(old, new) == [ReleaseState.LIVE, ReleaseState.FAILED]
    assert before == after


def test_the_end_of_the_old_log_is_read_before_its_container_is_removed(
    world: World,
) -> None:
    old = world.deploy(world.plan(world.replica(environment=FAST_TRAFFIC)))
    world.until_accepted(old)
    world.deploy(world.plan(world.replica(number=2), number=2))
    read = AcceptanceSample.objects.filter(replica=only_replica(old))
    assert read.exists()
    assert not only_replica(old).cursors.filter(finished=False).exists()


@pytest.mark.parametrize("step", ["BOOK", "STOP_OLD", "CREATE", "START"])
def test_a_cancelled_release_leaves_nothing_half_done(
    world: World, step: str, one_act_per_slice: None
) -> None:
    port = free_port()
    old = world.deploy(world.plan(world.replica(port=port)))
    slow = (("PRACTICE_READY_AFTER", "60"),)
    planned = world.replica(number=2, port=port, environment=slow)
    new = world.release(world.plan(planned, number=2))
    drive(new, done=step)
    cancel_release(world.alice, new)
    drive(new)
    assert states(old, new) == [ReleaseState.LIVE, ReleaseState.CANCELLED]
    assert new.cause_code == "cancelled"
    name = only_replica(old).container_name
    assert world.our_containers() == [(name, "running")]
    assert booked(world) == {("port", port): name}


def test_an_old_container_that_is_gone_cannot_be_restored_and_is_said_so(
    world: World, one_act_per_slice: None
) -> None:
    port = free_port()
    old = world.deploy(world.plan(world.replica(port=port)))
    planned = world.replica(number=2, port=port, environment=BROKEN)
    new = world.release(world.plan(planned, number=2))
    drive(new, done="STOP_OLD")
    with world.engine() as engine:
        container_id = Replica.objects.get(release=old).container_id
        engine.call("DELETE", f"/containers/{container_id}", act="remove it")
    drive(new)
    assert states(old, new) == [ReleaseState.STOPPED, ReleaseState.FAILED]
    assert "is gone" in new.cause

"""An emergency stop on a real Docker Engine: nothing of the deployment runs afterwards, whatever went on."""

import uuid

import pytest

from deployments.docker_api.containers import start_container
from deployments.models import Booking, Command, CommandState, Release, ReleaseState
from deployments.planning.plan import ReplaceStrategy
from deployments.services.emergency_stop import emergency_stop
from deployments.services.replica_observation import observe_host
from tests.services.rollout.world import World, drive, only_replica

pytestmark = pytest.mark.docker

WHY = "It answers nonsense."


def stop_now(world: World) -> Release:
    return emergency_stop(world.bob, world.deployment, WHY, uuid.uuid4().hex)


def drive_all(world: World) -> None:
    """Run every open command of the deployment to its end, also those that follow."""
    while True:
        command = Command.objects.filter(
            release__deployment=world.deployment,
            state__in=[CommandState.READY, CommandState.RUNNING],
        ).first()
        if command is None:
            return
        drive(command.release)


def states(world: World) -> list[str]:
    rows = world.deployment.releases.order_by("number")
    return list(rows.values_list("state", flat=True))


def nothing_runs(world: World) -> bool:
    observe_host(world.host.pk)
    held = Booking.objects.filter(host=world.host, released_at=None).exists()
    running = [name for name, state in world.our_containers() if state == "running"]
    return not running and not held


def test_what_is_live_stops_with_who_and_why(world: World) -> None:
    release = world.deploy(world.plan())
    assert stop_now(world) == release
    assert stop_now(world) == release
    drive_all(world)
    release.refresh_from_db()
    assert release.state == ReleaseState.STOPPED
    assert release.cause == f"Emergency stop by {world.bob}: {WHY}"
    assert release.events.filter(step="EMERGENCY").count() == 1
    assert nothing_runs(world)
    with pytest.raises(Exception, match=r"Nothing of .* runs"):
        stop_now(world)


@pytest.mark.parametrize("done", ["BOOK", "STOP_OLD", "CREATE", "START", "SWITCH"])
@pytest.mark.parametrize(
    "strategy", [ReplaceStrategy.REMOVE_THEN_CREATE, ReplaceStrategy.CREATE_THEN_REMOVE]
)
def test_in_the_middle_of_a_release_neither_the_old_nor_the_new_goes_on(
    world: World, one_act_per_slice: None, done: str, strategy: ReplaceStrategy
) -> None:
    removes_first = strategy is ReplaceStrategy.REMOVE_THEN_CREATE
    if done == "STOP_OLD" and not removes_first:
        done = "PULL"
    port = world.replica().health_port if removes_first else None
    world.deploy(world.plan(world.replica(port=port)))
    second = world.release(
        world.plan(world.replica(number=2, port=port), number=2, strategy=strategy)
    )
    drive(second, done=done)
    assert stop_now(world) == second
    drive_all(world)
    assert nothing_runs(world)
    past = done == "SWITCH"
    assert states(world) == [
        ReleaseState.STOPPED,
        ReleaseState.STOPPED if past else ReleaseState.CANCELLED,
    ]
    second.refresh_from_db()
    assert WHY in second.cause
    assert "serves again" not in second.cause


def test_a_stray_container_of_an_ended_release_stops_as_well(world: World) -> None:
    first = world.deploy(world.plan())
    stop_now(world)
    drive_all(world)
    with world.engine() as engine:
        start_container(engine, only_replica(first).container_id)
    second = world.deploy(world.plan(world.replica(number=2), number=2))
    observe_host(world.host.pk)
    assert second.state == ReleaseState.LIVE
    stop_now(world)
    drive_all(world)
    assert states(world) == [ReleaseState.STOPPED, ReleaseState.STOPPED]
    assert nothing_runs(world)

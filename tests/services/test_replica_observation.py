"""What somebody did to a container outside the panel is seen, said, and not fought."""

import time
import uuid

import pytest

from deployments.docker_api.containers import signal_container, start_container
from deployments.models import (
    Booking,
    DriftKind,
    Host,
    Reachability,
    Release,
    ReleaseState,
    ReplicaState,
)
from deployments.planning.text import sentences, text
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.releases import stop_release
from deployments.services.replica_observation import hosts_to_observe, observe_host
from deployments.services.restart_notes import acknowledge_restarts
from tests.docker_api.conftest import wait_stopped
from tests.services.rollout.conftest import (
    one_act_per_slice,
    practice_image_id,
    short_waits,
    world,
)
from tests.services.rollout.world import World, drive, only_replica

__all__ = ["one_act_per_slice", "practice_image_id", "short_waits", "world"]

pytestmark = pytest.mark.docker


def observed(world: World, release: Release) -> Release:
    observe_host(world.host.pk)
    release.refresh_from_db()
    world.host.refresh_from_db()
    return release


def stop_outside(world: World, release: Release, signal: str = "SIGKILL") -> str:
    container_id = only_replica(release).container_id
    with world.engine() as engine:
        signal_container(engine, container_id, signal)
        wait_stopped(engine, container_id)
    return container_id


def test_a_healthy_release_stays_as_it_is(world: World) -> None:
    release = world.deploy(world.plan())
    before = (release.state, release.warning)
    assert hosts_to_observe() == [world.host.pk]
    release = observed(world, release)
    assert (release.state, release.warning) == before
    assert world.host.reachability == Reachability.REACHABLE
    assert only_replica(release).ready


def test_a_container_killed_outside_fails_the_release_with_its_cause(
    world: World,
) -> None:
    release = world.deploy(world.plan())
    stop_outside(world, release)
    release = observed(world, release)
    replica = only_replica(release)
    assert release.state == ReleaseState.FAILED
    assert "137" in release.cause
    assert replica.container_name in release.cause
    assert (replica.state, replica.exit_code) == (ReplicaState.EXITED, 137)
    assert not Booking.objects.filter(host=world.host, released_at=None).exists()
    assert release.events.filter(step="OBSERVED").count() == 1
    observed(world, release)
    assert release.events.filter(step="OBSERVED").count() == 1


def test_a_container_removed_outside_fails_the_release(world: World) -> None:
    release = world.deploy(world.plan())
    container_id = stop_outside(world, release)
    with world.engine() as engine:
        engine.call("DELETE", f"/containers/{container_id}", act="remove it")
    release = observed(world, release)
    assert (release.state, release.cause_code) == (
        ReleaseState.FAILED,
        "removed_outside",
    )
    assert only_replica(release).state == ReplicaState.REMOVED


def test_a_restart_outside_is_a_warning(world: World) -> None:
    release = world.deploy(world.plan())
    container_id = stop_outside(world, release)
    with world.engine() as engine:
        start_container(engine, container_id)
        release = observed(world, release)
        assert release.state == ReleaseState.LIVE
        assert "restarted outside" in release.warning
    assert not only_replica(release).drift
    Release.objects.filter(pk=release.pk).update(
        warning=sentences(text("It drafts nothing."), release.warning)
    )
    again = world.deploy(world.plan(number=2))
    assert again.state == ReleaseState.LIVE
    release.refresh_from_db()
    assert (release.warning, again.warning) == ("It drafts nothing.", "")


def test_an_operator_knows_of_a_restart_and_the_journal_keeps_it(
    world: World,
) -> None:
    release = world.deploy(world.plan())
    container_id = stop_outside(world, release)
    with world.engine() as engine:
        start_container(engine, container_id)
    release = observed(world, release)
    with pytest.raises(NotAllowedError):
        acknowledge_restarts(world.bob, release)
    acknowledge_restarts(world.alice, release)
    assert observed(world, release).warning == ""
    told = [str(one.message) for one in release.events.filter(step="OBSERVED")]
    assert told[-1] == f"{world.alice} knows of the restarts."
    assert any("restarted outside" in one for one in told)
    with pytest.raises(ConflictError):
        acknowledge_restarts(world.alice, release)


def test_a_stopped_release_started_outside_is_said_and_left_alone(
    world: World,
) -> None:
    release = world.deploy(world.plan())
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    with world.engine() as engine:
        start_container(engine, only_replica(release).container_id)
    release = observed(world, release)
    replica = only_replica(release)
    assert release.state == ReleaseState.STOPPED
    assert replica.drift == DriftKind.STARTED
    assert "started outside" in replica.drift_text
    assert world.our_containers()[0][1] == "running"


def test_a_replica_that_turns_unhealthy_is_shown_and_left_running(
    world: World,
) -> None:
    planned = world.replica(environment=(("PRACTICE_UNHEALTHY", "after:2"),))
    release = world.deploy(world.plan(planned))
    assert only_replica(release).ready
    time.sleep(2.5)
    release = observed(world, release)
    assert release.state == ReleaseState.LIVE
    assert not only_replica(release).ready
    assert world.our_containers() == [(planned.container.name, "running")]


def test_an_unreachable_host_frees_nothing_and_says_since_when(world: World) -> None:
    release = world.deploy(world.plan())
    direct = world.host.docker_address
    Host.objects.filter(pk=world.host.pk).update(docker_address="unix:///nowhere/s")
    release = observed(world, release)
    since = world.host.unreachable_since
    assert release.state == ReleaseState.LIVE
    assert only_replica(release).state == ReplicaState.UNKNOWN
    assert world.host.reachability == Reachability.UNREACHABLE
    assert "Start Docker" in world.host.reason
    assert Booking.objects.filter(host=world.host, released_at=None).exists()
    observed(world, release)
    assert world.host.unreachable_since == since
    Host.objects.filter(pk=world.host.pk).update(docker_address=direct)
    release = observed(world, release)
    assert only_replica(release).state == ReplicaState.RUNNING
    assert (world.host.reachability, world.host.unreachable_since) == (
        Reachability.REACHABLE,
        None,
    )


def test_another_engine_is_not_taken_for_the_registered_one(world: World) -> None:
    release = world.deploy(world.plan())
    Host.objects.filter(pk=world.host.pk).update(docker_engine_id="OTHER")
    release = observed(world, release)
    assert world.host.reachability == Reachability.DIFFERENT_ENGINE
    assert world.host.docker_engine_id == "OTHER"
    assert release.state == ReleaseState.LIVE


def test_a_release_that_is_being_changed_is_left_to_its_command(
    world: World, one_act_per_slice: None
) -> None:
    release = world.release(world.plan())
    drive(release, done="START")
    stop_outside(world, release)
    release = observed(world, release)
    assert release.state == ReleaseState.STARTING


def test_the_host_row_holds_images_ports_and_versions(world: World) -> None:
    planned = world.replica()
    world.deploy(world.plan(planned))
    observe_host(world.host.pk)
    world.host.refresh_from_db()
    assert planned.health_port in world.host.used_ports
    ids = {image["image_id"] for image in world.host.images}
    assert world.image_id in ids
    assert world.host.docker_version
    assert world.host.clock_offset_ms is not None
    assert abs(world.host.clock_offset_ms) < 2000

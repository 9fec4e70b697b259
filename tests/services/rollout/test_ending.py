"""Stop keeps the log, remove takes the container away, and what was held is free again."""

import time
import uuid
from dataclasses import replace

import pytest

from deployments.docker_api.containers import inspect_container, start_container
from deployments.models import (
    AcceptanceSample,
    Booking,
    Command,
    CommandState,
    ReleaseState,
    ReplicaState,
)
from deployments.services.log_reading import hosts_to_read, read_host_logs
from deployments.services.releases import remove_release, stop_release
from tests.services.rollout.world import (
    FAST_TRAFFIC,
    World,
    drive,
    only_replica,
)

pytestmark = pytest.mark.docker


def test_stop_then_remove(world: World) -> None:
    release = world.deploy(world.plan())
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    replica = only_replica(release)
    assert (release.state, replica.state) == (ReleaseState.STOPPED, ReplicaState.EXITED)
    assert replica.exit_code == 0
    assert world.our_containers() == [(replica.container_name, "exited")]
    assert not Booking.objects.filter(host=world.host, released_at=None).exists()
    remove_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    assert world.our_containers() == []
    assert only_replica(release).state == ReplicaState.REMOVED


def test_the_log_is_read_once_more_after_the_end_and_then_left_alone(
    world: World,
) -> None:
    release = world.deploy(world.plan(world.replica(environment=FAST_TRAFFIC)))
    world.until_accepted(release)
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    assert hosts_to_read() == [world.host.pk]
    assert read_host_logs(world.host.pk) > 0
    assert hosts_to_read() == []
    count = AcceptanceSample.objects.count()
    assert read_host_logs(world.host.pk) == 0
    assert AcceptanceSample.objects.count() == count


def test_a_container_that_ignores_sigterm_is_killed_after_its_grace(
    world: World,
) -> None:
    planned = world.replica(environment=(("PRACTICE_SLOW_STOP", "600"),))
    impatient = replace(planned.container, stop_grace_s=3)
    planned = replace(planned, container=impatient)
    release = world.deploy(world.plan(planned))
    began = time.monotonic()
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    assert time.monotonic() - began >= planned.container.stop_grace_s
    assert only_replica(release).exit_code == 137


def test_remove_refuses_a_container_that_somebody_started_again(world: World) -> None:
    release = world.deploy(world.plan())
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    container_id = only_replica(release).container_id
    with world.engine() as engine:
        start_container(engine, container_id)
        command = remove_release(world.alice, release, uuid.uuid4().hex)
        drive(release)
        facts = inspect_container(engine, container_id)
    command.refresh_from_db()
    assert command.state == CommandState.FAILED
    assert "started it outside the panel" in command.error
    assert facts is not None
    assert facts.running
    assert release.state == ReleaseState.STOPPED
    assert Command.objects.filter(release=release).count() == 3

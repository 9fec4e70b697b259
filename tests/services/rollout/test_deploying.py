"""A deployment from the command row to a live container with samples."""

import pytest

from deployments.models import (
    AcceptanceSample,
    Booking,
    Command,
    CommandState,
    EventKind,
    ReleaseEvent,
    ReleaseState,
    ReplicaState,
)
from deployments.services.log_reading import read_host_logs
from tests.services.rollout.world import FAST_TRAFFIC, World, only_replica

pytestmark = pytest.mark.docker


def test_an_approved_plan_becomes_a_live_container(world: World) -> None:
    release = world.deploy(world.plan())
    replica = only_replica(release)
    assert (release.state, release.cause, release.warning) == (
        ReleaseState.LIVE,
        "",
        "",
    )
    assert release.live_at is not None
    assert replica.state == ReplicaState.RUNNING
    assert replica.ready
    assert (replica.verified_method, replica.verified_num_speculative_tokens) == (
        "ngram",
        3,
    )
    assert world.our_containers() == [(replica.container_name, "running")]
    assert Command.objects.get(release=release).state == CommandState.DONE


def test_the_journal_has_intent_and_outcome_of_every_step(world: World) -> None:
    release = world.deploy(world.plan())
    events = ReleaseEvent.objects.filter(release=release).exclude(kind=EventKind.NOTE)
    steps = [(event.step, event.kind) for event in events]
    names = [
        "VALIDATE",
        "BOOK",
        "PULL",
        "CHECK",
        "CREATE",
        "START",
        "WAIT_READY",
        "SMOKE",
        "SWITCH",
    ]
    assert steps == [
        (name, kind) for name in names for kind in (EventKind.INTENT, EventKind.DONE)
    ]


def test_samples_are_what_the_container_printed(world: World) -> None:
    replica = world.replica(environment=FAST_TRAFFIC)
    release = world.deploy(world.plan(replica))
    world.until_accepted(release, 2)
    read = sum(read_host_logs(world.host.pk) for _round in range(3))
    samples = AcceptanceSample.objects.filter(deployment=world.deployment)
    assert samples.count() == read > 0
    assert all(0 <= one.accepted <= one.drafted for one in samples)
    assert {one.num_speculative_tokens for one in samples} == {3}
    assert {one.engine_index for one in samples} == {0}
    assert {one.container_id for one in samples} == {only_replica(release).container_id}


def test_the_port_is_booked_while_the_container_runs(world: World) -> None:
    planned = world.replica()
    world.deploy(world.plan(planned))
    held = Booking.objects.get(host=world.host, released_at=None)
    assert held.port == planned.health_port

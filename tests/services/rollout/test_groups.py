"""Several replicas of one release stand and fall together, and start in order."""

from dataclasses import replace

import pytest

from deployments.models import EventKind, ReleaseState
from deployments.planning.plan import Role
from tests.services.rollout.world import World

pytestmark = pytest.mark.docker


def test_prefill_starts_before_decode_and_both_must_be_ready(world: World) -> None:
    decode = world.replica(role=Role.DECODE)
    prefill = world.replica(role=Role.PREFILL)
    release = world.deploy(world.plan(decode, prefill))
    started = release.events.filter(step="START", kind=EventKind.DONE)
    assert [event.replica.role for event in started if event.replica] == [
        "prefill",
        "decode",
    ]
    assert release.state == ReleaseState.LIVE
    assert all(replica.ready for replica in release.replicas.all())
    assert len(world.our_containers()) == 2


def test_ranks_start_in_order(world: World) -> None:
    ranks = [world.replica(rank=rank) for rank in (1, 0)]
    release = world.deploy(world.plan(*ranks))
    started = release.events.filter(step="START", kind=EventKind.DONE)
    assert [event.replica.rank for event in started if event.replica] == [0, 1]
    assert release.state == ReleaseState.LIVE


def test_one_that_fails_ends_all(world: World) -> None:
    broken = (("PRACTICE_OUT_OF_MEMORY", "cuda"),)
    good = world.replica(role=Role.PREFILL)
    bad = world.replica(role=Role.DECODE, environment=broken)
    release = world.deploy(world.plan(good, bad))
    assert release.state == ReleaseState.FAILED
    assert bad.container.name in release.cause.partition(". ")[0]
    assert {state for _name, state in world.our_containers()} == {"exited"}


def test_a_replica_without_http_is_judged_by_its_process(world: World) -> None:
    head = world.replica(rank=0)
    follower = replace(world.replica(rank=1), health_port=None)
    release = world.deploy(world.plan(head, follower))
    assert release.state == ReleaseState.LIVE

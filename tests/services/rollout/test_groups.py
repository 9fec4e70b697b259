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


def test_router_starts_when_prefill_and_decode_answer_and_is_proved_by_a_completion(
    world: World,
) -> None:
    router = replace(world.replica(role=Role.ROUTER), lists_models=False)
    members = [world.replica(role=role) for role in (Role.DECODE, Role.PREFILL)]
    release = world.deploy(world.plan(router, *members))
    steps = [
        (event.step, event.replica.role)
        for event in release.events.filter(kind=EventKind.DONE)
        if event.replica and event.step in ("START", "WAIT_READY", "SMOKE")
    ]
    assert release.state == ReleaseState.LIVE
    assert steps.index(("START", "router")) > steps.index(("WAIT_READY", "decode"))
    assert steps.index(("START", "router")) > steps.index(("WAIT_READY", "prefill"))
    assert steps[-1] == ("SMOKE", "router")


def test_ranks_start_in_order_and_a_canary_is_verified_with_its_own_count(
    world: World,
) -> None:
    canary = replace(world.replica(rank=1, count=5), canary=True)
    release = world.deploy(world.plan(canary, world.replica(rank=0)))
    started = release.events.filter(step="START", kind=EventKind.DONE)
    assert [event.replica.rank for event in started if event.replica] == [0, 1]
    assert release.state == ReleaseState.LIVE
    verified = release.replicas.order_by("rank").values_list(
        "canary", "verified_method", "verified_num_speculative_tokens"
    )
    assert list(verified) == [(False, "ngram", 3), (True, "ngram", 5)]


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

"""Releasing an approved plan once more, on a real Docker Engine: restored after drift, or gone back to."""

import uuid

import pytest

from deployments.docker_api.containers import (
    inspect_container,
    rename_container,
)
from deployments.models import (
    Booking,
    DriftKind,
    Host,
    Release,
    ReleaseState,
)
from deployments.planning.plan import ReplaceStrategy
from deployments.services.releases import release_again
from deployments.services.replica_observation import observe_host
from tests.services.rollout.world import World, drive, only_replica
from tests.services.test_drift import foreign, post
from tests.services.test_replica_observation import stop_outside

pytestmark = pytest.mark.docker


def again(world: World, release: Release) -> Release:
    """The release that a click begins, run to its end."""
    begun = release_again(world.alice, release, uuid.uuid4().hex)
    drive(begun)
    release.refresh_from_db()
    return begun


def held(world: World) -> set[object]:
    rows = Booking.objects.filter(host=world.host, released_at=None)
    return set(rows.values_list("replica__release__number", "port"))


def test_a_removed_container_is_restored_to_the_approved_plan(world: World) -> None:
    planned = world.replica()
    release = world.deploy(world.plan(planned))
    container_id = stop_outside(world, release)
    with world.engine() as engine:
        engine.call("DELETE", f"/containers/{container_id}", act="remove it")
    observe_host(world.host.pk)
    restored = again(world, release)
    assert restored.state == ReleaseState.LIVE
    assert restored.plan == release.plan
    assert (release.state, restored.number) == (ReleaseState.FAILED, 2)
    assert world.our_containers() == [(planned.container.name, "running")]
    assert held(world) == {(2, planned.health_port)}
    observe_host(world.host.pk)
    assert {row.drift for row in (only_replica(release), only_replica(restored))} == {
        ""
    }


def test_a_paused_and_changed_container_is_replaced_by_one_as_approved(
    world: World,
) -> None:
    planned = world.replica()
    plan = world.plan(planned, strategy=ReplaceStrategy.CREATE_THEN_REMOVE)
    release = world.deploy(plan)
    old_id = only_replica(release).container_id
    with world.engine() as engine:
        post(engine, f"/containers/{old_id}/update", RestartPolicy={"Name": "always"})
        observe_host(world.host.pk)
        assert only_replica(release).drift == DriftKind.CHANGED
        restored = again(world, release)
        assert restored.state == ReleaseState.LIVE, restored.cause
        assert (release.state, inspect_container(engine, old_id)) == (
            ReleaseState.STOPPED,
            None,
        )
    assert world.our_containers() == [(planned.container.name, "running")]
    observe_host(world.host.pk)
    assert not only_replica(restored).drift
    assert held(world) == {(2, planned.health_port)}


def test_what_ran_is_started_again_when_restoring_it_fails(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = world.replica()
    release = world.deploy(world.plan(planned))
    old_id = only_replica(release).container_id
    monkeypatch.setattr(
        "deployments.services.rollout.verifying.is_healthy", lambda _endpoint: False
    )
    begun = release_again(world.alice, release, uuid.uuid4().hex)
    drive(begun, done="START")
    begun.refresh_from_db()
    with world.engine() as engine:
        container_id = only_replica(begun).container_id
        engine.call("POST", f"/containers/{container_id}/kill", act="kill it")
        drive(begun)
        release.refresh_from_db()
        assert (begun.state, release.state) == (ReleaseState.FAILED, ReleaseState.LIVE)
        facts = inspect_container(engine, old_id)
    assert facts is not None
    assert facts.running
    assert held(world) == {(1, planned.health_port)}
    monkeypatch.undo()
    observe_host(world.host.pk)
    assert not only_replica(release).drift
    begun = again(world, release)
    assert begun.state == ReleaseState.LIVE, begun.cause
    assert world.our_containers() == [(planned.container.name, "running")]


def test_back_to_an_earlier_revision_whatever_its_plan_said_of_replacing(
    world: World,
) -> None:
    port = world.replica().health_port
    strategy = ReplaceStrategy.CREATE_THEN_REMOVE
    first = world.deploy(world.plan(world.replica(port=port), strategy=strategy))
    second = world.deploy(world.plan(world.replica(number=2, port=port), number=2))
    assert second.state == ReleaseState.LIVE, second.cause
    back = again(world, first)
    second.refresh_from_db()
    assert back.state == ReleaseState.LIVE, back.cause
    assert (back.plan, second.state) == (first.plan, ReleaseState.STOPPED)
    assert [name for name, _state in world.our_containers()] == [
        only_replica(back).container_name
    ]
    assert held(world) == {(3, port)}


def test_a_name_that_somebody_took_is_refused_before_anything_stops(
    world: World,
) -> None:
    release = world.deploy(world.plan())
    replica = only_replica(release)
    with world.engine() as engine:
        rename_container(engine, replica.container_id, f"{replica.container_name}-x")
        stranger = foreign(world, engine, replica.container_name)
        observe_host(world.host.pk)
        begun = again(world, release)
        assert (begun.state, begun.cause_code) == (ReleaseState.BLOCKED, "name_taken")
        assert release.state == ReleaseState.LIVE
        facts = inspect_container(engine, stranger)
        assert facts is not None
        assert facts.state == "created"
        own = inspect_container(engine, replica.container_id)
    assert own is not None
    assert own.running
    assert not begun.events.filter(step="STOP_OLD").exists()


def test_two_replicas_of_which_one_is_lost_are_restored_together(world: World) -> None:
    planned = (world.replica(), world.replica(rank=1))
    release = world.deploy(world.plan(*planned))
    dead = release.replicas.get(rank=1)
    with world.engine() as engine:
        engine.call("POST", f"/containers/{dead.container_id}/kill", act="kill it")
        while (facts := inspect_container(engine, dead.container_id)) and facts.running:
            pass
    observe_host(world.host.pk)
    release.refresh_from_db()
    assert release.state == ReleaseState.FAILED
    restored = again(world, release)
    assert restored.state == ReleaseState.LIVE, restored.cause
    assert [state for _name, state in world.our_containers()] == ["running"] * 2
    assert held(world) == {(2, one.health_port) for one in planned}


def test_hosts_that_changed_refuse_before_a_row_is_made(world: World) -> None:
    release = world.deploy(world.plan())
    Host.objects.filter(pk=world.host.pk).update(address="10.1.2.3")
    with pytest.raises(Exception, match="here changed since this plan was made"):
        release_again(world.alice, release, uuid.uuid4().hex)
    assert world.deployment.releases.count() == 1

"""Observed against desired, on a real Docker Engine: what differs is said, and never fought."""

import uuid

import pytest
from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    inspect_container,
    rename_container,
    start_container,
)
from deployments.models import Booking, DriftKind, Release, ReleaseState, Replica
from deployments.services.releases import stop_release
from deployments.services.replica_observation import (
    hosts_to_watch,
    observe_host,
    watch_host,
)
from deployments.services.rollout.rollout import INSTANCE_LABEL
from tests.factories import BookingFactory
from tests.services.rollout.conftest import (
    practice_image_id,
    short_waits,
    world,
)
from tests.services.rollout.world import World, drive, only_replica
from tests.services.test_replica_observation import stop_outside

__all__ = ["practice_image_id", "short_waits", "world"]

pytestmark = pytest.mark.docker


def watched(world: World, release: Release) -> Replica:
    """The replica after the short look that runs every few seconds."""
    assert hosts_to_watch() == [world.host.pk]
    watch_host(world.host.pk)
    release.refresh_from_db()
    return only_replica(release)


def looked_at(world: World, release: Release) -> Replica:
    """The replica after a whole look."""
    observe_host(world.host.pk)
    release.refresh_from_db()
    world.host.refresh_from_db()
    return only_replica(release)


def post(engine: Engine, path: str, **body: Json) -> None:
    engine.call("POST", path, act="do it outside", body=body or None)


def foreign(world: World, engine: Engine, name: str, **labels: str) -> str:
    """A container of somebody else; returns its id."""
    answer = engine.call(
        "POST",
        "/containers/create",
        act="make it outside",
        params={"name": name},
        body={"Image": world.image_id, "Labels": dict[str, Json](labels)},
    )
    assert isinstance(answer, dict)
    return str(answer["Id"])


def state_of(engine: Engine, container_id: str) -> tuple[str, str, str]:
    facts = inspect_container(engine, container_id)
    assert facts is not None
    return facts.name, facts.state, facts.started_at


def test_nothing_differs_after_a_deployment(world: World) -> None:
    release = world.deploy(world.plan())
    replica = looked_at(world, release)
    assert (replica.drift, replica.drift_text, replica.drift_since) == ("", "", None)
    assert world.host.strangers == []


def test_a_pause_is_seen_left_alone_and_forgotten_when_it_ends(world: World) -> None:
    release = world.deploy(world.plan())
    container_id = only_replica(release).container_id
    with world.engine() as engine:
        post(engine, f"/containers/{container_id}/pause")
        replica = watched(world, release)
        assert replica.drift == DriftKind.PAUSED
        assert "paused outside the panel" in replica.drift_text
        assert "Restore" in replica.drift_action
        assert state_of(engine, container_id)[1] == "paused"
        since = replica.drift_since
        assert looked_at(world, release).drift_since == since
        post(engine, f"/containers/{container_id}/unpause")
    replica = watched(world, release)
    assert (replica.drift, replica.drift_since) == ("", None)
    assert release.state == ReleaseState.LIVE
    told = [str(event.message) for event in release.events.filter(step="OBSERVED")]
    assert len(told) == 2
    assert "again as the release says" in told[-1]


def test_another_name_is_seen_and_so_is_who_has_the_old_one(world: World) -> None:
    release = world.deploy(world.plan())
    before = only_replica(release)
    other = f"{before.container_name}-by-hand"
    with world.engine() as engine:
        rename_container(engine, before.container_id, other)
        replica = watched(world, release)
        assert replica.drift == DriftKind.RENAMED
        assert other in replica.drift_text
        stranger = foreign(world, engine, before.container_name)
        replica = looked_at(world, release)
        assert "Another container has its name" in replica.drift_text
        assert "Rename or remove that container" in replica.drift_action
        assert state_of(engine, stranger)[1] == "created"
        assert state_of(engine, before.container_id)[0] == other
    assert release.state == ReleaseState.LIVE


def test_a_foreign_container_with_our_name_is_said_and_left_alone(
    world: World,
) -> None:
    release = world.deploy(world.plan())
    name = only_replica(release).container_name
    container_id = stop_outside(world, release)
    with world.engine() as engine:
        engine.call("DELETE", f"/containers/{container_id}", act="remove it")
        stranger = foreign(world, engine, name)
        start_container(engine, stranger)
        before = state_of(engine, stranger)
        replica = watched(world, release)
        assert (replica.drift, release.state) == (
            DriftKind.REPLACED,
            ReleaseState.FAILED,
        )
        assert release.cause_code == "replaced_outside"
        assert release.cause == replica.drift_text
        observe_host(world.host.pk)
        assert state_of(engine, stranger) == before
    assert not Booking.objects.filter(host=world.host, released_at=None).exists()


def test_settings_changed_by_docker_update_are_named(world: World) -> None:
    release = world.deploy(world.plan())
    container_id = only_replica(release).container_id
    with world.engine() as engine:
        post(
            engine,
            f"/containers/{container_id}/update",
            RestartPolicy={"Name": "always"},
        )
        replica = looked_at(world, release)
        assert replica.drift == DriftKind.CHANGED
        assert "RestartPolicy is always" in replica.drift_text
        post(engine, f"/containers/{container_id}/update", RestartPolicy={"Name": "no"})
        assert not looked_at(world, release).drift
        post(engine, "/networks/bridge/disconnect", Container=container_id, Force=True)
        assert "no longer in the network bridge" in looked_at(world, release).drift_text


def test_a_stopped_container_that_somebody_starts_again_serves_again(
    world: World,
) -> None:
    release = world.deploy(world.plan())
    held = Booking.objects.filter(host=world.host, released_at=None).count()
    container_id = stop_outside(world, release)
    replica = watched(world, release)
    assert (replica.drift, release.state) == (DriftKind.STOPPED, ReleaseState.FAILED)
    assert "137" in replica.drift_text
    assert "137" in looked_at(world, release).drift_text
    with world.engine() as engine:
        start_container(engine, container_id)
    replica = watched(world, release)
    assert (replica.drift, release.state) == ("", ReleaseState.LIVE)
    assert (release.cause, release.cause_code, release.ended_at) == ("", "", None)
    assert Booking.objects.filter(host=world.host, released_at=None).count() == held


def test_what_another_deployment_has_booked_meanwhile_is_not_taken_back(
    world: World,
) -> None:
    planned = world.replica()
    release = world.deploy(world.plan(planned))
    container_id = stop_outside(world, release)
    watched(world, release)
    port = planned.container.ports[0].host
    BookingFactory.create(host=world.host, device=None, port=port)
    with world.engine() as engine:
        start_container(engine, container_id)
    observe_host(world.host.pk)
    release.refresh_from_db()
    replica = only_replica(release)
    assert release.state == ReleaseState.FAILED
    assert replica.drift == DriftKind.STARTED
    assert "booked its devices or ports" in replica.drift_text


def test_an_ended_release_drifts_only_while_its_container_runs(world: World) -> None:
    release = world.deploy(world.plan())
    stop_release(world.alice, release, uuid.uuid4().hex)
    drive(release)
    container_id = only_replica(release).container_id
    assert not looked_at(world, release).drift
    with world.engine() as engine:
        start_container(engine, container_id)
        assert watched(world, release).drift == DriftKind.STARTED
    stop_outside(world, release)
    assert not watched(world, release).drift


def test_a_forged_label_is_reported_and_never_adopted(world: World) -> None:
    release = world.deploy(world.plan())
    name = f"{world.deployment.name}-forged"
    with world.engine() as engine:
        labels = dict(inspected_labels(engine, only_replica(release).container_id))
        container_id = foreign(world, engine, name, **labels)
        start_container(engine, container_id)
        before = state_of(engine, container_id)
        looked_at(world, release)
        watch_host(world.host.pk)
        assert state_of(engine, container_id) == before
    assert [one["name"] for one in world.host.strangers] == [name]
    assert labels[INSTANCE_LABEL] == str(world.host.pk)
    assert Replica.objects.filter(host=world.host).count() == 1


def inspected_labels(engine: Engine, container_id: str) -> dict[str, str]:
    facts = inspect_container(engine, container_id)
    assert facts is not None
    return dict(facts.labels)

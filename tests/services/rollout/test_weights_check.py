"""Weights of a plan are looked at on their host before anything stops; what lacks is named."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.docker_api.containers import list_containers
from deployments.models import EventKind, Release, ReleaseEvent, ReleaseState
from deployments.planning.container import Mount
from deployments.planning.plan import PlannedReplica, Role
from tests.model_files import two_shards
from tests.services.rollout.world import World

pytestmark = pytest.mark.docker
SECOND = "model-00002-of-00002.safetensors"


@pytest.fixture
def models(world: World, tmp_path: Path) -> Path:
    """The model root of the world's host."""
    folder = tmp_path / "models"
    folder.mkdir()
    folder.chmod(0o755)
    world.host.model_root = str(folder)
    world.host.save()
    return folder


@pytest.fixture(autouse=True)
def _nothing_left(world: World) -> Iterator[None]:
    yield
    with world.engine() as engine:
        assert list_containers(engine, label="draftboard.purpose=models") == ()


def serving(
    world: World, models: Path, *names: str, role: Role = Role.COMBINED, rank: int = 0
) -> PlannedReplica:
    """A replica that mounts these directories."""
    made = world.replica(role=role, rank=rank)
    mounts = tuple(
        Mount(source=f"{models}/{name}", target=f"/models/{name}") for name in names
    )
    return replace(made, container=replace(made.container, mounts=mounts))


def validated(release: Release) -> str:
    return ReleaseEvent.objects.get(
        release=release, step="VALIDATE", kind=EventKind.DONE
    ).message


def test_complete_weights_let_a_release_go_live(world: World, models: Path) -> None:
    two_shards(models, "tiny")
    two_shards(models, "tiny-eagle3")
    release = world.deploy(world.plan(serving(world, models, "tiny", "tiny-eagle3")))
    assert release.state == ReleaseState.LIVE
    assert validated(release) == "The approval holds and the hosts are as planned."


def test_a_truncated_shard_ends_the_release_before_anything_is_made(
    world: World, models: Path
) -> None:
    os.truncate(two_shards(models, "tiny") / SECOND, 900)
    release = world.deploy(world.plan(serving(world, models, "tiny")))
    assert (release.state, release.cause_code) == (
        ReleaseState.FAILED,
        "weights_incomplete",
    )
    assert f"{SECOND} in {models}/tiny is cut off: it has 900 of" in release.cause
    assert "(on here, for combined)" in release.cause
    assert release.next_action == "Copy that file again. Then release again."
    assert world.our_containers() == []


def test_everything_that_lacks_is_told_at_once(world: World, models: Path) -> None:
    (two_shards(models, "tiny") / SECOND).unlink()
    shut = two_shards(models, "draft")
    os.chown(shut, 12345, 12345)
    shut.chmod(0o700)
    release = world.deploy(world.plan(serving(world, models, "tiny", "draft")))
    assert f"{SECOND} is missing in {models}/tiny" in release.cause
    assert f"{models}/draft may not be read by the user" in release.cause
    assert f"chmod -R a+rX {models}/draft" in release.next_action


@pytest.mark.parametrize(
    ("rights", "state"),
    [
        ({}, ReleaseState.FAILED),
        ({"user": "12345:12345"}, ReleaseState.LIVE),
        ({"cap_add": ("DAC_OVERRIDE",)}, ReleaseState.LIVE),
    ],
)
def test_the_look_has_the_rights_of_the_role(
    world: World, models: Path, rights: dict[str, Any], state: ReleaseState
) -> None:
    shut = two_shards(models, "tiny")
    for path in (shut, *shut.iterdir()):
        os.chown(path, 12345, 12345)
        path.chmod(0o700)
    one = serving(world, models, "tiny")
    planned = replace(one, container=replace(one.container, **rights))
    assert world.deploy(world.plan(planned)).state == state


def test_a_directory_that_is_not_there_is_named(world: World, models: Path) -> None:
    two_shards(models, "tiny")
    release = world.deploy(world.plan(serving(world, models, "tiny", "absent")))
    assert f"{models}/absent is not there (on here, for combined)" in release.cause
    (models / "absent").mkdir()
    release = world.deploy(
        world.plan(serving(world, models, "tiny", "absent"), number=2)
    )
    assert f"{models}/absent holds no weights" in release.cause


def test_what_cannot_be_looked_at_is_noted_and_does_not_stop_a_release(
    world: World, models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    two_shards(models, "tiny")
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(4)")
    monkeypatch.setattr("deployments.services.model_listing.SCRIPT", broken)
    release = world.deploy(world.plan(serving(world, models, "tiny")))
    assert release.state == ReleaseState.LIVE
    assert "The weights on here were not looked at: The program" in validated(release)

"""A preflight looks at everything a release would check, tells all of it, and changes nothing."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from deployments.docker_api.containers import list_containers
from deployments.models import (
    ApprovalRequest,
    EventKind,
    Host,
    ModelListing,
    Preflight,
    PreflightCheck,
    PreflightState,
    Release,
    RequestState,
)
from deployments.planning.container import ImageReference, Mount
from deployments.planning.plan import Plan, PlannedReplica
from deployments.planning.text import text_from_document
from deployments.services.releases import start_release
from deployments.services.rollout import image_checks, weights_check
from deployments.services.rollout.trial import preflights_to_run, run_preflight
from tests.factories import BookingFactory, DeviceFactory
from tests.host_rows import ModelListingFactory
from tests.model_files import two_shards
from tests.plan_rows import request_for, stored, vote
from tests.services.rollout.world import World, drive

pytestmark = pytest.mark.docker


def asked(
    world: World, plan: Plan, state: RequestState = RequestState.APPROVED
) -> Preflight:
    """A preflight that somebody asked for."""
    request = request_for(stored(world.deployment, plan), state)
    if state != RequestState.OPEN:
        vote(request, world.bob)
    return Preflight.objects.create(request=request, asked_at=timezone.now())


def listed(row: Preflight) -> dict[str, tuple[str, str]]:
    """State and sentence of each check; the worst one of several hosts is enough here."""
    row.refresh_from_db()
    return {
        one["check"]: (
            one["state"],
            str(text_from_document(one["sentence"])) if one["sentence"] else "",
        )
        for one in row.results
    }


def mounting(world: World, *sources: str, **changes: Any) -> PlannedReplica:
    """A replica that mounts these directories of the host."""
    made = world.replica()
    mounts = tuple(
        Mount(source=one, target=f"/models/{one.rpartition('/')[2]}") for one in sources
    )
    return replace(made, container=replace(made.container, mounts=mounts, **changes))


@pytest.fixture
def models(world: World, tmp_path: Path) -> Path:
    """The model root of the world's host."""
    folder = tmp_path / "models"
    folder.mkdir()
    folder.chmod(0o755)
    world.host.model_root = str(folder)
    world.host.save()
    return folder


def begun(world: World, request: ApprovalRequest) -> Release:
    """The release of the request, carried out to its end."""
    release = start_release(world.alice, request, "once")
    drive(release)
    return release


def said(release: Release, step: str) -> str:
    return str(release.events.get(step=step, kind=EventKind.DONE).message)


def test_what_passed_stands_for_the_release_and_what_is_old_is_repeated(
    world: World, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_shards(models, "tiny")
    row = asked(world, world.plan(mounting(world, f"{models}/tiny")))
    assert preflights_to_run() == [row.pk]
    run_preflight(row.pk)
    found = listed(row)
    assert {state for state, _said in found.values()} == {PreflightState.PASSED}
    # Links are looked at between hosts of one plan only.
    elsewhere = {PreflightCheck.DIRECTORIES, PreflightCheck.FABRIC}
    assert set(found) == {*PreflightCheck.values} - elsewhere
    assert "takes the command of the replica on" in found[PreflightCheck.ARGUMENTS][1]
    assert "free for images, volumes and logs" in found[PreflightCheck.DISK][1]
    assert f"model directories: {models}/tiny " in found[PreflightCheck.DISK][1]
    assert world.our_containers() == []
    assert (row.read_at is not None, preflights_to_run()) == (True, [])

    for result in row.results:
        if result["check"] == PreflightCheck.ARGUMENTS:
            result["at"] = (timezone.now() - timedelta(minutes=31)).isoformat()
    row.save()
    monkeypatch.setattr(weights_check, "first_answer", None)
    release = begun(world, row.request)
    assert release.state == "live", release.cause
    assert "were found complete 0 minutes ago" in said(release, "VALIDATE")
    assert "takes the command of the replica on" in said(release, "CHECK")
    row.refresh_from_db()
    ages = {one["check"]: one["at"] for one in row.results}
    assert ages[PreflightCheck.ARGUMENTS] > ages[PreflightCheck.WEIGHTS]


def test_the_parser_is_not_asked_twice_within_the_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = asked(world, world.plan())
    run_preflight(row.pk)
    monkeypatch.setattr(image_checks, "run_short", None)
    release = begun(world, row.request)
    assert "took the commands of here 0 minutes ago" in said(release, "CHECK")


def test_every_trouble_is_told_at_once_and_nothing_is_changed(
    world: World, models: Path
) -> None:
    two_shards(models, "tiny")
    DeviceFactory.create(host=world.host, number=0)
    BookingFactory.create(host=world.host, device=0)
    wanted = mounting(
        world,
        f"{models}/absent",
        f"{models}/tiny",
        f"{models}/other",
        image=ImageReference(reference="127.0.0.1:1/acme/engine:1"),
    )
    plan = world.plan(replace(wanted, devices=(0,), practice=False))
    row = asked(world, plan, RequestState.OPEN)
    run_preflight(row.pk)
    found = listed(row)
    assert found[PreflightCheck.APPROVAL][0] == PreflightState.NOTED
    assert found[PreflightCheck.DEVICES] == (
        PreflightState.FAILED,
        "device 0 of here is held by a release of another team.",
    )
    assert found[PreflightCheck.IMAGE][0] == PreflightState.FAILED
    assert "find the image" in found[PreflightCheck.IMAGE][1]
    assert found[PreflightCheck.DRIVER][0] == PreflightState.UNCHECKED
    assert found[PreflightCheck.DIRECTORIES] == (
        PreflightState.FAILED,
        f"{models}/absent is not there on here. {models}/other is not there on here.",
    )
    row.request.refresh_from_db()
    assert row.request.state == RequestState.OPEN
    with world.engine() as engine:
        assert list_containers(engine, label="draftboard.purpose=models") == ()


def test_a_directory_that_the_last_listing_lacks_is_said_where_nothing_can_look(
    world: World, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ModelListingFactory.create(host=world.host, read_at=timezone.now())
    assert ModelListing.objects.exists()
    monkeypatch.setattr(weights_check, "_images", lambda *_any: [])
    row = asked(world, world.plan(mounting(world, f"{models}/absent")))
    run_preflight(row.pk)
    found = listed(row)
    assert found[PreflightCheck.WEIGHTS][0] == PreflightState.UNCHECKED
    assert (
        f"{models}/absent is not there on here" in found[PreflightCheck.DIRECTORIES][1]
    )


def test_a_host_that_does_not_answer_is_one_line_and_the_rest_is_checked(
    world: World,
) -> None:
    row = asked(world, world.plan())
    nowhere = "unix:///nowhere/docker.sock"
    Host.objects.filter(pk=world.host.pk).update(docker_address=nowhere)
    run_preflight(row.pk)
    found = listed(row)
    assert found[PreflightCheck.HOST][0] == PreflightState.FAILED
    assert found[PreflightCheck.DEVICES][0] == PreflightState.PASSED
    assert PreflightCheck.WEIGHTS not in found


def test_one_worker_runs_it_and_a_lost_one_is_replaced(world: World) -> None:
    row = asked(world, world.plan())
    Preflight.objects.update(started_at=timezone.now())
    run_preflight(row.pk)
    assert listed(row) == {}
    Preflight.objects.update(started_at=timezone.now() - timedelta(minutes=3))
    run_preflight(row.pk)
    assert listed(row)

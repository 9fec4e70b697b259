"""Before anything stops: the image's own parser reads the commands, and drivers are compared."""

import json
import subprocess
import sys

import pytest
from django.db.models.functions import Now

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import list_containers
from deployments.docker_api.images import ImageFacts, find_image, import_image
from deployments.models import EventKind, Host, Platform, Release, ReleaseState
from deployments.planning.plan import Plan
from deployments.services.rollout import deploying, image_checks
from deployments.services.rollout.image_checks import SCRIPT, Parsed, parse_in_image
from deployments.services.rollout.rollout import members_of
from deployments.services.short_run import ShortAnswer, ShortRun, run_short
from deployments.services.throwaway import PURPOSE
from tests.docker_api.busybox import busybox_archive
from tests.factories import DeviceFactory
from tests.probe_rows import HostProbeFactory
from tests.services.rollout.world import World, drive

pytestmark = pytest.mark.docker

REFUSED = (
    "vllm",
    "serve",
    "acme/target",
    "--port",
    "8000",
    "--tensor-paralel-size",
    "2",
)


def said(release: Release, step: str = "CHECK") -> str:
    events = release.events.filter(step=step).exclude(kind=EventKind.INTENT)
    return " ".join(str(event.message) for event in events)


def left(world: World) -> list[str]:
    with world.engine() as engine:
        return [
            one.name for one in list_containers(engine, label=f"{PURPOSE}=arguments")
        ]


def with_devices(world: World, platform: Platform) -> Plan:
    """A plan that holds a device, on a host of that platform, as if it were no practice."""
    Host.objects.filter(pk=world.host.pk).update(platform=platform)
    DeviceFactory.create(host=world.host, number=0)
    return world.plan(world.replica(devices=(0,), practice=False))


def test_the_parser_of_the_practice_image_takes_the_command(world: World) -> None:
    release = world.deploy(world.plan())
    assert release.state == ReleaseState.LIVE
    assert "(0.32.0) takes the command of the replica on here" in said(release)
    assert left(world) == []


def test_a_refused_command_ends_the_release_before_anything_stops(
    world: World,
) -> None:
    old = world.deploy(world.plan())
    plan = world.plan(world.replica(number=2, command=REFUSED), number=2)
    release = world.deploy(plan)
    assert (release.state, release.cause_code) == (
        ReleaseState.BLOCKED,
        "arguments_refused",
    )
    assert "unrecognized arguments: --tensor-paralel-size 2" in release.cause
    assert release.next_action
    old.refresh_from_db()
    assert old.state == ReleaseState.LIVE
    assert [state for _name, state in world.our_containers()] == ["running"]
    assert left(world) == []


def test_many_replicas_are_read_in_one_container(world: World) -> None:
    replicas = [world.replica(rank=rank) for rank in range(3)]
    release = world.release(world.plan(*replicas))
    members = members_of(release, world.plan(*replicas))
    with world.engine() as engine:
        image = find_image(engine, world.image_id)
        assert image is not None
        parsed = parse_in_image(engine, image, members, host=world.host)
    assert parsed == Parsed(version="0.32.0", refusals=("", "", ""))


def test_an_image_whose_parser_cannot_run_is_said_and_the_profile_stands_in(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.engine() as engine:
        busybox = import_image(
            engine,
            busybox_archive(),
            repository="draftboard-test/busybox",
            tag="1",
            changes=(),
        )

    def without_python(engine: Engine, image: ImageFacts, run: ShortRun) -> ShortAnswer:
        del image
        other = ImageFacts(
            image_id=busybox,
            references=("acme/bare:1",),
            repository_digests=(),
            size_bytes=0,
            labels={},
        )
        return run_short(engine, other, run)

    monkeypatch.setattr(image_checks, "run_short", without_python)
    release = world.deploy(world.plan())
    assert release.state == ReleaseState.LIVE
    assert "could not run without a device on here" in said(release)
    assert "acme/bare:1 has no python3" in said(release)
    assert "knows every flag of 1 replicas and stands in" in said(release)
    unknown = world.plan(world.replica(number=2, command=REFUSED), number=2)
    assert world.deploy(unknown).cause_code == "arguments_refused"


def test_a_driver_that_is_too_old_for_the_image_ends_it_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    HostProbeFactory.create(host=world.host, driver_version="570.86.15")
    monkeypatch.setattr(
        image_checks, "environment_of", lambda *_any: {"CUDA_VERSION": "13.0.1"}
    )
    release = world.deploy(with_devices(world, Platform.NVIDIA))
    assert (release.state, release.cause_code) == (
        ReleaseState.BLOCKED,
        "driver_too_old",
    )
    assert "too old for the image: CUDA 13.0 needs 580" in release.cause
    assert "Install driver 580 or later on here" in release.next_action
    assert world.our_containers() == []


def test_a_driver_that_nobody_knows_is_said_and_stops_nothing(world: World) -> None:
    release = world.deploy(with_devices(world, Platform.NVIDIA))
    assert release.state == ReleaseState.LIVE
    assert "The driver of here is not known" in said(release)


def test_nothing_starts_on_a_device_while_a_probe_may_hold_it(
    world: World, one_act_per_slice: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deploying, "PROBE_LOOK_AGAIN_S", 0.05)
    release = world.release(with_devices(world, Platform.NVIDIA))
    drive(release, done="CREATE")
    probe = HostProbeFactory.create(host=world.host, begun_at=Now())
    monkeypatch.setattr("tests.services.rollout.world.DEADLINE_S", 1.5)
    with pytest.raises(AssertionError, match="is still ready"):
        drive(release, hurry=True)
    assert [state for _name, state in world.our_containers()] == ["created"]
    type(probe).objects.update(ended_at=Now())
    monkeypatch.setattr("tests.services.rollout.world.DEADLINE_S", 60)
    drive(release, hurry=True)
    assert release.state == ReleaseState.LIVE


def run_script(*commands: list[str], mark: str = "MARK ") -> dict[str, object]:
    """Run the script with this Python, which has no engine."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, mark, *map(json.dumps, commands)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    line = next(one for one in done.stdout.splitlines() if one.startswith(mark))
    found: dict[str, object] = json.loads(line.removeprefix(mark))
    return found


def test_a_python_without_an_engine_says_that_it_cannot() -> None:
    told = run_script(["vllm", "serve", "x"])
    assert "No module named 'vllm'" in str(told["cannot"])
    assert told["answers"] == []

"""What fails says so: object, step, cause, what was left, next action; and nothing else is touched."""

import socket
import time
from dataclasses import replace

import pytest

from deployments.docker_api.containers import inspect_container
from deployments.docker_api.logs import read_tail
from deployments.docker_api.translation import from_answer
from deployments.models import (
    Booking,
    Command,
    CommandState,
    EventKind,
    Host,
    Release,
    ReleaseEvent,
    ReleaseState,
    Replica,
    RequestState,
    RoleGrant,
)
from deployments.planning.container import ImageReference
from deployments.services.host_calls import bounded_calls
from deployments.services.rollout import verifying
from deployments.services.rollout.executor import run_command
from deployments.services.rollout.failures import docker_failure
from deployments.services.rollout.probe import Endpoint, NoAnswerError
from practice.image import PRACTICE_IMAGE
from tests.docker_api.registry import Registry, serving
from tests.services.rollout.world import World, drive, free_port, only_replica

pytestmark = pytest.mark.docker


def failed_event(release: Release) -> ReleaseEvent:
    return ReleaseEvent.objects.get(release=release, kind=EventKind.FAILED)


def nothing_booked(world: World) -> bool:
    return not Booking.objects.filter(host=world.host, released_at=None).exists()


def test_a_release_waits_for_its_turn_at_a_host_that_fails_and_loses_no_try(
    world: World,
) -> None:
    release = world.release(world.plan())
    command = Command.objects.get(release=release)
    Host.objects.filter(pk=world.host.pk).update(failed_calls=1)
    host = Host.objects.get(pk=world.host.pk)
    with (
        bounded_calls(host, insists=True, in_turn=True),
        bounded_calls(host, insists=True, in_turn=True),
    ):
        run_command(command.pk)
    command.refresh_from_db()
    assert command.state == CommandState.READY
    assert command.not_before is not None
    assert not release.events.filter(detail__has_key="retry").exists()
    drive(release)
    assert release.state == ReleaseState.LIVE


def test_a_port_that_something_listens_on_is_named_and_nothing_is_left(
    world: World,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        release = world.deploy(world.plan(world.replica(port=port)))
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "port_taken")
    assert f"port {port} is already in use" in release.cause
    assert release.cause.startswith("Starting ")
    assert "was removed again" in release.cause
    assert "another port" in release.next_action
    assert world.our_containers() == []
    assert nothing_booked(world)
    assert Command.objects.get(release=release).state == CommandState.FAILED


def test_a_port_held_by_a_foreign_container_is_found_before_anything_is_created(
    world: World,
) -> None:
    port = free_port()
    other = world.deploy(world.plan(world.replica(port=port)))
    Booking.objects.filter(replica__release=other).delete()
    Replica.objects.filter(release=other).update(container_id="")
    Release.objects.filter(pk=other.pk).update(state=ReleaseState.STOPPED)
    release = world.deploy(world.plan(world.replica(number=2, port=port), number=2))
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "port_taken")
    assert release.cause.startswith("Booking devices and ports: ")
    assert only_replica(other).container_name in release.cause


def test_a_foreign_container_with_our_name_blocks_and_is_left_alone(
    world: World,
) -> None:
    planned = world.replica()
    with world.engine() as engine:
        engine.call(
            "POST",
            "/containers/create",
            act="make a foreign container",
            params={"name": planned.container.name},
            body={"Image": world.image_id, "Cmd": ["--help"]},
        )
        before = inspect_container(engine, planned.container.name)
        release = world.deploy(world.plan(planned))
        after = inspect_container(engine, planned.container.name)
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "name_taken")
    assert "left alone" in release.cause
    assert before == after
    assert nothing_booked(world)


def test_a_missing_practice_image_says_how_to_make_it(world: World) -> None:
    missing = ImageReference(
        reference="draftboard/practice-vllm:0.0.0", image_id="sha256:" + "0" * 64
    )
    release = world.deploy(world.plan(world.replica(image=missing)))
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "image_missing")
    assert "draftboard/practice-vllm:0.0.0" in release.cause
    assert "make practice-image" in release.next_action
    assert world.our_containers() == []


def test_an_image_that_no_registry_gives_is_a_failure_with_a_next_action(
    world: World,
) -> None:
    unknown = ImageReference(reference="127.0.0.1:1/nobody/nothing:1")
    planned = replace(world.replica(image=unknown), practice=False)
    release = world.release(world.plan(planned))
    drive(release, hurry=True)
    assert release.events.filter(detail__has_key="retry").count() == 4
    assert (release.state, release.cause_code) == (
        ReleaseState.FAILED,
        "registry_unavailable",
    )
    assert "mirror" in release.next_action


def test_a_tag_that_was_moved_is_told_and_the_other_image_never_taken(
    world: World,
) -> None:
    gone = "sha256:" + "5" * 64
    here = ImageReference(reference=PRACTICE_IMAGE, image_id=gone)
    planned = replace(world.replica(image=here), practice=False)
    release = world.deploy(world.plan(planned))
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "tag_moved")
    assert (
        f"the tag {PRACTICE_IMAGE} was moved on here: it now names the image "
        f"{world.image_id[7:19]}, and 555555555555, which the plan names, is gone"
    ) in release.cause
    with serving(Registry(salt="moved")) as registry:
        there = ImageReference(reference=registry.reference, digest=gone)
        planned = replace(world.replica(number=2, image=there), practice=False)
        release = world.deploy(world.plan(planned, number=2))
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "tag_moved")
    assert (
        f"the tag {registry.reference} was moved: its registry now offers {registry.digest} and no "
        f"longer {gone}, which the plan names"
    ) in release.cause
    assert world.our_containers() == []


@pytest.mark.parametrize(
    ("words", "code", "cause", "next_action"),
    [
        (
            "write /var/lib/docker/tmp/x: no space left on device",
            "disk_full",
            (
                "The Docker Engine of gpu-01 could not pull a/b:1: write /var/lib/docker/tmp/x: no space left "
                "on device"
            ),
            "Free disk space on the host, then release again.",
        ),
        (
            (
                "driver failed programming external connectivity: Bind for 0.0.0.0:8000 failed: port is "
                "already allocated"
            ),
            "port_taken",
            "port 8000 is already in use on the host",
            "Free the port on the host, or plan again with another port.",
        ),
    ],
)
def test_a_full_disk_and_a_taken_port_have_sentences_of_their_own(
    words: str, code: str, cause: str, next_action: str
) -> None:
    failure = docker_failure(from_answer("gpu-01", "pull a/b:1", 500, words))
    assert (failure.code, str(failure.cause)) == (code, cause)
    assert str(failure.next_action) == next_action


def test_a_program_that_the_image_lacks_is_named(world: World) -> None:
    planned = world.replica(command=("no-such-program", "serve"))
    release = world.deploy(world.plan(planned))
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "no_entrypoint")
    assert "no-such-program" in release.cause
    assert nothing_booked(world)


def test_a_container_that_exits_at_once_shows_code_cause_and_last_lines(
    world: World,
) -> None:
    planned = world.replica(environment=(("PRACTICE_OUT_OF_MEMORY", "cuda"),))
    release = world.deploy(world.plan(planned))
    event = failed_event(release)
    assert release.state == ReleaseState.FAILED
    assert "exit code 1" in release.cause
    assert event.detail["exit_code"] == 1
    assert event.detail["log"]
    assert event.detail["diagnosis"] is not None
    assert "left, so that its log can be read" in release.cause
    assert world.our_containers() == [(planned.container.name, "exited")]
    assert nothing_booked(world)


def test_an_unknown_end_shows_the_code_and_the_last_lines(world: World) -> None:
    planned = world.replica(
        environment=(("PRACTICE_EXIT_AFTER", "0.1"), ("PRACTICE_EXIT_CODE", "7"))
    )
    release = world.deploy(world.plan(planned))
    assert failed_event(release).detail["exit_code"] == 7
    assert "exit code 7" in release.cause


def test_one_that_never_becomes_ready_fails_at_its_deadline(world: World) -> None:
    planned = world.replica(environment=(("PRACTICE_HANG", "1"),), ready_deadline_s=1)
    release = world.release(world.plan(planned))
    drive(release, done="START")
    with world.engine() as engine:
        while not read_tail(engine, only_replica(release).container_id):
            time.sleep(0.1)
    Release.objects.filter(pk=release.pk).update(deadline_at=release.state_since)
    drive(release)
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "never_ready")
    assert failed_event(release).detail["log"]
    assert world.our_containers() == [(planned.container.name, "exited")]


def test_a_wrong_model_fails(world: World) -> None:
    planned = world.replica(environment=(("PRACTICE_WRONG_MODEL", "other"),))
    release = world.deploy(world.plan(planned))
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "wrong_model")
    assert "other" in release.cause


def test_a_first_request_that_hangs_is_asked_again_until_the_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch, one_act_per_slice: None
) -> None:
    def hang(_endpoint: Endpoint, _model: str) -> str:
        raise NoAnswerError("/v1/completions did not answer: timed out")

    monkeypatch.setattr(verifying, "complete", hang)
    release = world.release(world.plan())
    drive(release, done="WAIT_READY")
    command = Command.objects.get(release=release)
    run_command(command.pk)
    release.refresh_from_db()
    assert release.state == ReleaseState.VERIFYING
    Release.objects.filter(pk=release.pk).update(deadline_at=release.state_since)
    drive(release)
    assert (release.state, release.cause_code) == (
        ReleaseState.FAILED,
        "completion_failed",
    )
    assert "timed out" in release.cause


def test_speculation_that_is_silently_off_is_a_visible_warning(world: World) -> None:
    planned = world.replica(environment=(("PRACTICE_SPECULATION_OFF", "1"),))
    release = world.deploy(world.plan(planned))
    assert release.state == ReleaseState.LIVE
    assert "speculation is off" in release.warning
    assert only_replica(release).verified_num_speculative_tokens is None


def test_another_count_than_planned_is_a_visible_warning(world: World) -> None:
    planned = world.replica(count=2)
    asked = replace(planned, speculation=world.replica(count=5).speculation)
    release = world.deploy(world.plan(asked))
    assert release.state == ReleaseState.LIVE
    assert "2 tokens" in release.warning
    assert "5" in release.warning


@pytest.mark.parametrize("step", ["BOOK", "CREATE"])
def test_an_approval_withdrawn_before_start_starts_nothing(
    world: World, step: str, one_act_per_slice: None
) -> None:
    release = world.release(world.plan())
    drive(release, done=step)
    RoleGrant.objects.filter(membership__user=world.bob).delete()
    drive(release)
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "not_approved")
    assert world.our_containers() == []
    assert nothing_booked(world)


def test_a_host_that_changed_makes_the_request_stale_and_starts_nothing(
    world: World,
) -> None:
    release = world.release(world.plan())
    type(world.host).objects.filter(pk=world.host.pk).update(address="192.0.2.1")
    drive(release)
    release.request.refresh_from_db()
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "host_changed")
    assert release.request.state == RequestState.STALE
    assert "Plan the revision again" in release.next_action
    assert world.our_containers() == []


def test_another_engine_at_the_same_address_blocks(world: World) -> None:
    plan = world.plan()
    type(world.host).objects.filter(pk=world.host.pk).update(docker_engine_id="OTHER")
    release = world.deploy(plan)
    assert (release.state, release.cause_code) == (
        ReleaseState.BLOCKED,
        "different_engine",
    )
    assert world.our_containers() == []


def test_a_plan_that_was_changed_in_the_database_runs_nothing(world: World) -> None:
    plan = world.plan()
    release = world.release(plan)
    tampered = world.deployment.revisions.get().plans.get()
    changed = type(tampered).objects.create(
        revision=world.deployment.revisions.get(),
        document=tampered.document.replace("acme/target", "evil/target"),
        digest="sha256:" + "1" * 64,
        can_submit=True,
        method="ngram",
        model_key="acme/target",
        schema_version=1,
        planner_version="1",
    )
    Release.objects.filter(pk=release.pk).update(plan=changed)
    drive(release)
    assert (release.state, release.cause_code) == (
        ReleaseState.BLOCKED,
        "digest_mismatch",
    )
    assert world.our_containers() == []

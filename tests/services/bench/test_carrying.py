"""Benchmarks next to a live service on a real engine: whole, cancelled, failing, taken over."""

import time
import uuid
from dataclasses import replace

import pytest

from deployments.docker_api.containers import list_containers, signal_container
from deployments.models import (
    AuditAction,
    AuditEntry,
    BenchmarkJob,
    BenchmarkResult,
    BenchmarkState,
    ReleaseState,
    SegmentState,
    TeamRole,
)
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset, Prompt, jsonl
from deployments.planning.container import SecretVariable
from deployments.services.bench import carrying
from deployments.services.bench.asking import ask_for_benchmark, cancel_benchmark
from deployments.services.team_secrets import store_secret
from deployments.telemetry.benchmarks.documents import run_from_document
from tests.factories import member
from tests.services.rollout.conftest import practice_image_id, short_waits, world
from tests.services.rollout.world import World

__all__ = ["practice_image_id", "short_waits", "world"]

pytestmark = pytest.mark.docker
PROMPTS = jsonl(
    Prompt(prompt=f"number {n}", output_tokens=30 + n) for n in range(4)
).decode()
QUIET = (("PRACTICE_TRAFFIC", "0"), ("PRACTICE_STEP_TIME", "0.002"))
SLOW = (("PRACTICE_TRAFFIC", "0"), ("PRACTICE_STEP_TIME", "0.5"))
DEADLINE_S = 60.0
KEY = "chat-key"


def live(world: World, environment: tuple[tuple[str, str], ...] = QUIET) -> None:
    """The deployment of the world, live and without traffic of its own."""
    release = world.deploy(world.plan(world.replica(environment=environment)))
    assert release.state == ReleaseState.LIVE


def asked(world: World, **course: object) -> BenchmarkJob:
    """A benchmark with four prompts of the team."""
    usual = {"dataset": Dataset.OWN, "levels": (1, 4), "repeats": 2, "prompts": 4}
    return ask_for_benchmark(
        world.alice,
        world.deployment,
        Course(**{**usual, **course}),  # type: ignore[arg-type]
        prompts=PROMPTS,
        key=uuid.uuid4().hex,
    )


def carried(job: BenchmarkJob, *, until_running: bool = False) -> BenchmarkJob:
    """Look again and again until it has ended, or its first client runs."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        carrying.carry_on(job.pk)
        job.refresh_from_db()
        if job.pk not in carrying.open_benchmarks():
            return job
        if until_running and job.state == BenchmarkState.RUNNING:
            return job
        time.sleep(0.1)
    raise AssertionError(f"{job} is still {job.state}")


def clients(world: World) -> list[str]:
    """Containers of clients, by name."""
    with world.engine() as engine:
        listed = list_containers(engine, label="draftboard.purpose=benchmark")
    return [one.name for one in listed]


def test_a_live_service_with_a_key_is_measured_and_the_team_keeps_it(
    world: World,
) -> None:
    team = world.host.cluster.team
    store_secret(member(team, "admin-b", TeamRole.ADMIN), team, KEY, "k-7f3a")
    planned = world.replica(environment=QUIET)
    secret = SecretVariable(variable="VLLM_API_KEY", secret=KEY, version=1)
    container = replace(planned.container, secrets=(secret,))
    assert world.deploy(world.plan(replace(planned, container=container))).live_at
    job = carried(asked(world))
    assert (job.state, str(job.cause)) == (BenchmarkState.DONE, "")
    assert job.result is not None
    runs = [run_from_document(run) for run in job.result.runs]
    assert [run.max_concurrency for run in runs] == [1, 4, 1, 4]
    assert {(run.completed, run.failed) for run in runs} == {(4, 0)}
    assert {run.generated_tokens for run in runs} == {30 + 31 + 32 + 33}
    told = runs[0].speculation
    assert told is not None
    assert told.num_speculative_tokens == 3
    assert told.acceptance_rate
    assert runs[0].conditions["dataset_path"] == "own.jsonl"
    assert job.result.deployment == world.deployment
    assert clients(world) == []
    acts = set(AuditEntry.objects.values_list("action", flat=True))
    assert {AuditAction.BENCHMARK_ASKED, AuditAction.BENCHMARK_KEPT} <= acts
    carrying.carry_on(job.pk)
    assert BenchmarkResult.objects.count() == 1


def test_cancelling_takes_the_client_away_and_keeps_nothing(world: World) -> None:
    live(world, SLOW)
    job = carried(asked(world), until_running=True)
    assert len(clients(world)) == 1
    cancel_benchmark(world.alice, job)
    assert carried(job).state == BenchmarkState.CANCELLED
    assert clients(world) == []
    assert not BenchmarkResult.objects.exists()


def test_a_client_that_fails_says_why_and_a_killed_one_too(world: World) -> None:
    live(world, SLOW)
    course = {"dataset": Dataset.SHAREGPT, "sharegpt_path": "/data/share.json"}
    failed = carried(asked(world, **course))
    assert failed.state == BenchmarkState.FAILED
    assert "run 1 ended with exit code 1" in str(failed.cause)
    assert any("/data/share.json" in line for line in failed.lines)
    job = carried(asked(world), until_running=True)
    with world.engine() as engine:
        signal_container(engine, clients(world)[0], "SIGKILL")
    killed = carried(job)
    assert "exit code 137" in str(killed.cause)
    assert clients(world) == []


def test_a_worker_that_dies_between_two_acts_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(world)
    job = asked(world, levels=(1,), repeats=1)
    for dies_at in ("start_client", "_note_begin", "remove_for_good"):
        with monkeypatch.context() as patch:
            patch.setattr(carrying, dies_at, _die)
            end = time.monotonic() + DEADLINE_S
            while time.monotonic() < end:
                try:
                    carrying.carry_on(job.pk)
                except KeyboardInterrupt:
                    break
                time.sleep(0.1)
        assert len(clients(world)) == 1
    done = carried(job)
    assert (done.state, str(done.cause)) == (BenchmarkState.DONE, "")
    assert done.segments.get().state == SegmentState.DONE
    assert BenchmarkResult.objects.get().run_count == 1
    assert clients(world) == []


def test_a_service_that_stops_ends_its_benchmark(world: World) -> None:
    live(world, SLOW)
    job = carried(asked(world), until_running=True)
    with world.engine() as engine:
        signal_container(engine, job.replica.container_id, "SIGKILL")
    ended = carried(job)
    assert "stopped or was replaced" in str(ended.cause)
    assert clients(world) == []


def _die(*_arguments: object) -> None:
    raise KeyboardInterrupt

"""The client's container: beside the service, in its network, from its image, without devices."""

from dataclasses import replace

from deployments.docker_api.archive import put_file, read_file
from deployments.docker_api.client import Engine
from deployments.docker_api.containers import start_container
from deployments.docker_api.logs import read_tail
from deployments.docker_api.short_containers import create_short_container
from deployments.models import BenchmarkJob, BenchmarkSegment
from deployments.planning.bench.course import Course, Segment
from deployments.planning.bench.datasets import (
    Dataset,
    Prompt,
    jsonl,
    own_prompts,
    shipped_prompts,
    with_length,
)
from deployments.planning.bench.invocation import (
    PROMPTS_PATH,
    RESULT_FOLDER,
    RESULT_NAME,
    bench_arguments,
    starts_cold,
)
from deployments.planning.container import (
    ContainerSpec,
    ImageReference,
    LogOptions,
    NetworkMode,
    SecretVariable,
)
from deployments.planning.documents import from_document
from deployments.services.bench.measured import Measured
from deployments.services.rollout.rollout import policy_of
from deployments.services.team_secrets import open_secrets
from deployments.services.throwaway import OWNER, PURPOSE
from deployments.telemetry.benchmarks.conditions import COLD
from deployments.telemetry.benchmarks.reader import read_benchmark
from deployments.telemetry.benchmarks.values import BenchmarkRun

KEY_VARIABLE = "OPENAI_API_KEY"
"""What ``vllm bench serve`` sends as its bearer token (0.8.5 to 0.33.0)."""
QUIET = (
    ("HF_HUB_OFFLINE", "1"),
    ("VLLM_LOGGING_LEVEL", "ERROR"),
    ("VLLM_NO_USAGE_STATS", "1"),
)
LARGEST_RESULT = 16 << 20
LAST_LINES = 30


def client_name(segment: BenchmarkSegment) -> str:
    """The container of a run; a worker that takes over finds it by this."""
    return f"draftboard-bench-{segment.pk.hex[:16]}"


def owner_of(job: BenchmarkJob) -> str:
    """The label that all containers of a benchmark carry."""
    return f"benchmark:{job.pk}"


def make_client(
    engine: Engine, job: BenchmarkJob, row: BenchmarkSegment, measured: Measured
) -> str:
    """Create the container of a run, not started; returns its id.

    Raises:
        UseCaseError: the service's key is gone.
        PlanningError: the prompts cannot be read any more.
        DockerApiError: the engine refuses or does not answer.
    """
    course, segment = parts_of(job, row)
    planned = measured.planned.container
    team = measured.replica.release.deployment.team_id
    values = list(open_secrets(team, planned.secrets).values())[:1]
    spec = ContainerSpec(
        name=client_name(row),
        image=ImageReference(
            reference=measured.engine.image_id, image_id=measured.engine.image_id
        ),
        command=(
            "vllm",
            *bench_arguments(measured.served, course, segment, salt=client_name(row)),
        ),
        user=planned.user,
        environment=tuple({**dict(QUIET), **dict(planned.environment)}.items()),
        mounts=planned.mounts,
        cap_add=planned.cap_add,
        group_add=planned.group_add,
        network_mode=NetworkMode.NONE,
        pids_limit=4096,
        logging=LogOptions(max_size="8m", max_file=1),
        secrets=tuple(
            SecretVariable(
                variable=KEY_VARIABLE, secret=one.secret, version=one.version
            )
            for one in planned.secrets[:1]
        ),
    )
    return create_short_container(
        engine,
        spec,
        image_id=measured.engine.image_id,
        labels={PURPOSE: "benchmark", OWNER: owner_of(job)},
        policy=policy_of(measured.replica.host),
        read_only=False,
        network_of=measured.replica.container_id,
        secrets=dict.fromkeys([KEY_VARIABLE], values[0]) if values else None,
    )


def start_client(
    engine: Engine, job: BenchmarkJob, row: BenchmarkSegment, container_id: str
) -> None:
    """Give the container its prompts and start it; safe to repeat.

    Raises:
        PlanningError: the prompts cannot be read any more.
        DockerApiError: the engine refuses or does not answer.
    """
    course, segment = parts_of(job, row)
    prompts = prompts_of(job, course, segment)
    if prompts:
        put_file(engine, container_id, PROMPTS_PATH, jsonl(prompts))
    start_container(engine, container_id)


def result_of(
    engine: Engine, container_id: str, course: Course, version: str
) -> BenchmarkRun | None:
    """What an ended client of this version of vLLM measured, ``None`` where it left no result.

    Raises:
        BenchmarkError: the result cannot be read.
        DockerApiError: the engine refuses or does not answer.
    """
    path = f"{RESULT_FOLDER}/{RESULT_NAME}"
    content = read_file(engine, container_id, path, largest_bytes=LARGEST_RESULT)
    if content is None:
        return None
    run = read_benchmark(content)[-1]
    return replace(run, conditions=run.conditions | _told(course, version))


def _told(course: Course, version: str) -> dict[str, str]:
    """What the result itself does not say of how it was made, in the words of the client's flags."""
    told = {"temperature": "0"}
    if starts_cold(version):
        told["prefix_cache"] = COLD
    if course.dataset is Dataset.RANDOM:
        return told | {"dataset_name": "random"}
    if course.dataset is Dataset.SHAREGPT:
        path = course.sharegpt_path or ""
        return told | {"dataset_name": "sharegpt", "dataset_path": path}
    return told | {
        "dataset_name": "custom",
        "dataset_path": f"{course.dataset.value}.jsonl",
        "custom_output_len": "-1",
    }


def last_lines(engine: Engine, container_id: str) -> list[str]:
    """What the client printed last.

    Raises:
        DockerApiError: the engine refuses or does not answer.
    """
    return [line.text for line in read_tail(engine, container_id, lines=LAST_LINES)]


def parts_of(job: BenchmarkJob, row: BenchmarkSegment) -> tuple[Course, Segment]:
    """The course of a benchmark and the part of it that a row is about."""
    course = course_of(job)
    return course, course.segments[row.number - 1]


def course_of(job: BenchmarkJob) -> Course:
    """What somebody asked for.

    Raises:
        PlanningError: it was stored by another version.
    """
    return from_document(Course, job.course)


def prompts_of(
    job: BenchmarkJob, course: Course, segment: Segment
) -> tuple[Prompt, ...]:
    """Exactly what a run sends; every repeat the same, so that only their order differs.

    Few prompts are sent again from the first on.
    """
    if course.dataset.shipped:
        known = shipped_prompts(course.dataset)
    elif course.dataset is Dataset.OWN:
        known = with_length(own_prompts(job.prompts))
    else:
        return ()
    return tuple(known[place % len(known)] for place in range(segment.prompts))

"""Carry a benchmark on, one look at a time: rows and containers say where it stands, no worker remembers.

A worker that dies leaves a container with a known name; the next look finds it running or ended.
"""

import logging
import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import inspect_container
from deployments.docker_api.errors import DockerApiError
from deployments.models import (
    OPEN_BENCHMARKS,
    BenchmarkJob,
    BenchmarkSegment,
    BenchmarkState,
    ReleaseState,
    SegmentState,
)
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, said_by, text
from deployments.selectors.plans import stored_plan
from deployments.services.bench.acceptance import with_acceptance
from deployments.services.bench.client import (
    client_name,
    course_of,
    last_lines,
    make_client,
    owner_of,
    result_of,
    start_client,
)
from deployments.services.bench.measured import measured_of, vllm_version
from deployments.services.benchmarks import keep_result
from deployments.services.errors import UseCaseError
from deployments.services.host_access import open_host, prove_same_engine
from deployments.services.throwaway import remove_for_good, remove_leftovers
from deployments.telemetry.benchmarks.documents import run_document, run_from_document
from deployments.telemetry.benchmarks.errors import BenchmarkError

logger = logging.getLogger(__name__)
LONGEST_RUN = timedelta(hours=2)
"""Longer than any course that is worth waiting for; what hangs must not hold the host for ever."""


LINES_WITHIN = timedelta(seconds=15)
"""So long after a run, the panel has read what its engines printed every ten seconds."""


class EndedError(Exception):
    """The benchmark ends here: why, and what the client printed last."""

    def __init__(self, cause: Text, lines: list[str] | None = None) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.lines = lines or []


def open_benchmarks() -> list[uuid.UUID]:
    """Those that have not ended."""
    rows = BenchmarkJob.objects.filter(state__in=OPEN_BENCHMARKS)
    return list(rows.values_list("pk", flat=True))


def carry_on(job_id: uuid.UUID) -> None:
    """Bring a benchmark as far as it goes without waiting; safe to repeat and to run twice at once."""
    job = (
        BenchmarkJob.objects.filter(pk=job_id, state__in=OPEN_BENCHMARKS)
        .select_related(
            "host__cluster__team",
            "replica__release__deployment__cluster",
            "replica__release__deployment__team",
            "replica__release__plan__revision",
            "asked_by",
        )
        .first()
    )
    if job is None:
        return
    try:
        prove_same_engine(job.host)
        with open_host(job.host) as engine:
            if job.cancel_asked_at is not None:
                _end(engine, job, BenchmarkState.CANCELLED)
                return
            try:
                _carry(engine, job)
            except EndedError as ended:
                _end(engine, job, BenchmarkState.FAILED, ended.cause, ended.lines)
            except (BenchmarkError, PlanningError, UseCaseError) as error:
                _end(engine, job, BenchmarkState.FAILED, said_by(error))
    except DockerApiError as error:
        logger.info("benchmark not seen", extra={"code": error.code})
        if not error.retryable:
            _store_end(job, BenchmarkState.FAILED, said_by(error), [])


def _carry(engine: Engine, job: BenchmarkJob) -> None:
    _prove_service(engine, job)
    for row in job.segments.exclude(state=SegmentState.DONE):
        if not _carry_segment(engine, job, row):
            return
    remove_leftovers(engine, owner_of(job))
    _finish(job)


def _prove_service(engine: Engine, job: BenchmarkJob) -> None:
    """What is measured must be what was asked to be measured.

    Raises:
        EndedError: it does not run any more.
        DockerApiError: the engine does not answer.
    """
    facts = inspect_container(engine, job.replica.container_id)
    live = job.replica.release.state == ReleaseState.LIVE
    if not live or facts is None or not facts.running:
        raise EndedError(
            text(
                "{name} stopped or was replaced while it was measured. Measure again when it is live.",
                name=job.replica.container_name,
            )
        )


def _carry_segment(engine: Engine, job: BenchmarkJob, row: BenchmarkSegment) -> bool:
    """Bring one run on; returns whether it is done."""
    facts = inspect_container(engine, client_name(row))
    if facts is None:
        if row.container_id:
            raise EndedError(
                text(
                    "The container {name} of the client was removed by somebody else.",
                    name=client_name(row),
                )
            )
        measured = measured_of(job.replica.release)
        container_id = make_client(engine, job, row, measured)
        _begin(engine, job, row, container_id)
        return False
    if not facts.ever_started:
        if facts.error:
            raise EndedError(Text(facts.error[:400]))
        _begin(engine, job, row, facts.container_id)
        return False
    if facts.running:
        _note_begin(job, row, facts.container_id)
        if row.began_at and timezone.now() - row.began_at > LONGEST_RUN:
            raise EndedError(
                text(
                    "One run took longer than {hours} hours and was ended.",
                    hours=round(LONGEST_RUN.total_seconds() / 3600),
                ),
                last_lines(engine, facts.container_id),
            )
        return False
    _store_run(engine, job, row, facts.container_id, facts.exit_code)
    return True


def _begin(
    engine: Engine, job: BenchmarkJob, row: BenchmarkSegment, container_id: str
) -> None:
    start_client(engine, job, row, container_id)
    _note_begin(job, row, container_id)


def _note_begin(job: BenchmarkJob, row: BenchmarkSegment, container_id: str) -> None:
    BenchmarkSegment.objects.filter(pk=row.pk, state=SegmentState.WAITING).update(
        state=SegmentState.RUNNING, container_id=container_id, began_at=Now()
    )
    BenchmarkJob.objects.filter(pk=job.pk, state=BenchmarkState.WAITING).update(
        state=BenchmarkState.RUNNING
    )


def _store_run(
    engine: Engine,
    job: BenchmarkJob,
    row: BenchmarkSegment,
    container_id: str,
    exit_code: int | None,
) -> None:
    version = vllm_version(stored_plan(job.replica.release.plan))
    run = (
        result_of(engine, container_id, course_of(job), version)
        if exit_code == 0
        else None
    )
    if run is None:
        lines = last_lines(engine, container_id)
        raise EndedError(
            text(
                "The client of run {number} ended with exit code {code} and left no result: {line}",
                number=row.number,
                code=exit_code or 0,
                line=(lines or ["-"])[-1][:300],
            ),
            lines,
        )
    BenchmarkSegment.objects.filter(pk=row.pk).update(
        state=SegmentState.DONE,
        container_id="",
        ended_at=Now(),
        run=run_document(run),
    )
    remove_for_good(engine, container_id)


def _finish(job: BenchmarkJob) -> None:
    """Keep what was measured, once; what engines print of the last run is waited for where that is needed."""
    rows = list(job.segments.order_by("number"))
    told = [run_from_document(row.run or {}) for row in rows]
    release = job.replica.release
    ended = max(row.ended_at for row in rows if row.ended_at)
    if (
        release.plan.num_speculative_tokens
        and any(run.speculation is None for run in told)
        and timezone.now() - ended < LINES_WITHIN
    ):
        return
    runs = tuple(
        with_acceptance(run, row, release) for run, row in zip(told, rows, strict=True)
    )
    revision = release.plan.revision
    dataset = course_of(job).dataset.value
    name = f"{release.deployment.name} {revision.number}, {dataset}"[:80]
    with transaction.atomic():
        if not _store_end(job, BenchmarkState.DONE):
            return
        keep_result(
            job.asked_by,
            release.deployment.team,
            name,
            runs,
            measured=(release.deployment, revision),
            job=job,
        )


def _end(
    engine: Engine,
    job: BenchmarkJob,
    state: BenchmarkState,
    cause: Text | None = None,
    lines: list[str] | None = None,
) -> None:
    """Take the client away, then say how it ended."""
    remove_leftovers(engine, owner_of(job))
    _store_end(job, state, cause, lines)


def _store_end(
    job: BenchmarkJob,
    state: BenchmarkState,
    cause: Text | None = None,
    lines: list[str] | None = None,
) -> bool:
    told = {"cause": cause} if cause else {}
    return bool(
        BenchmarkJob.objects.filter(pk=job.pk, state__in=OPEN_BENCHMARKS).update(
            state=state, ended_at=Now(), lines=lines or [], **told
        )
    )

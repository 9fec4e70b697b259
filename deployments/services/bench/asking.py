"""Ask for a benchmark of what runs, and cancel one."""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import (
    OPEN_BENCHMARKS,
    AuditAction,
    BenchmarkJob,
    BenchmarkSegment,
    Deployment,
    ReleaseState,
    TeamRole,
    User,
)
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset, own_prompts
from deployments.planning.bench.invocation import bench_arguments
from deployments.planning.documents import to_document
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.bench.measured import measured_of
from deployments.services.errors import ConflictError
from deployments.services.waking import wake

CARRY_BENCHMARK = "deployments.carry_benchmark"


def ask_for_benchmark(
    user: User, deployment: Deployment, course: Course, *, prompts: str = "", key: str
) -> BenchmarkJob:
    """Have a worker measure the live release; ``prompts`` are JSON lines for the team's own dataset.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: nothing is live, it cannot be measured, or the host is measured already.
        PlanningError: the prompts cannot be used, or the image's version cannot send such.
    """
    require_role(user, deployment.team, TeamRole.OPERATOR)
    known = BenchmarkJob.objects.filter(idempotency_key=key).first()
    if known is not None:
        return known
    release = deployment.releases.filter(state=ReleaseState.LIVE).first()
    if release is None:
        raise ConflictError(_("Nothing is live, so there is nothing to measure."))
    if course.dataset is Dataset.OWN:
        own_prompts(prompts)
    measured = measured_of(release)
    bench_arguments(measured.served, course, course.segments[0])
    try:
        with transaction.atomic():
            job = BenchmarkJob.objects.create(
                replica=measured.replica,
                host=measured.replica.host,
                course=to_document(course),
                prompts=prompts if course.dataset is Dataset.OWN else "",
                asked_by=user,
                idempotency_key=key,
            )
            BenchmarkSegment.objects.bulk_create(
                BenchmarkSegment(
                    job=job,
                    number=one.number,
                    repeat=one.repeat,
                    concurrency=one.concurrency,
                )
                for one in course.segments
            )
            transaction.on_commit(lambda: wake(CARRY_BENCHMARK, [job.pk]))
            told = {"dataset": course.dataset.value, "loads": list(course.levels)}
            record(AuditAction.BENCHMARK_ASKED, user, release, after=told)
    except IntegrityError as error:
        raise ConflictError(
            _(
                "A benchmark runs on %(host)s already, and two would measure each other: wait for its end "
                "or cancel it."
            )
            % {"host": measured.replica.host.name}
        ) from error
    return job


def cancel_benchmark(user: User, job: BenchmarkJob) -> None:
    """Have a worker end a benchmark; what was measured so far is not kept.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: it has ended.
    """
    release = job.replica.release
    require_role(user, release.deployment.team, TeamRole.OPERATOR)
    with transaction.atomic():
        rows = BenchmarkJob.objects.filter(pk=job.pk, state__in=OPEN_BENCHMARKS)
        if not rows.update(cancel_asked_at=Now()):
            raise ConflictError(_("This benchmark has ended."))
        transaction.on_commit(lambda: wake(CARRY_BENCHMARK, [job.pk]))
        record(AuditAction.BENCHMARK_CANCELLED, user, release)

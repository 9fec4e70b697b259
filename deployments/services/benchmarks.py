"""Keep and remove benchmark results of a team."""

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import (
    MOST_KEPT_RUNS,
    AuditAction,
    BenchmarkJob,
    BenchmarkResult,
    Deployment,
    Revision,
    Team,
    TeamRole,
    User,
)
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError
from deployments.telemetry.benchmarks.documents import run_document
from deployments.telemetry.benchmarks.values import BenchmarkRun


def keep_result(  # noqa: PLR0913 - each is a part of one result
    user: User,
    team: Team,
    name: str,
    runs: tuple[BenchmarkRun, ...],
    *,
    measured: tuple[Deployment | None, Revision | None] = (None, None),
    job: BenchmarkJob | None = None,
) -> BenchmarkResult:
    """Keep the runs of one result under a name; ``measured`` is what served them, ``job`` what made them.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: more runs than a result may have, or a deployment of another team.
    """
    require_role(user, team, TeamRole.OPERATOR)
    deployment, revision = measured
    if len(runs) > MOST_KEPT_RUNS:
        raise ConflictError(
            _(
                "A result holds at most %(limit)s runs; this one has %(count)s: split it."
            )
            % {"limit": MOST_KEPT_RUNS, "count": len(runs)}
        )
    if deployment is not None and deployment.team_id != team.pk:
        raise ConflictError(_("The deployment belongs to another team."))
    with transaction.atomic():
        row = BenchmarkResult.objects.create(
            team=team,
            name=name,
            runs=[run_document(run) for run in runs],
            run_count=len(runs),
            deployment=deployment,
            revision=revision,
            created_by=user,
        )
        if job is not None:
            BenchmarkJob.objects.filter(pk=job.pk).update(result=row)
        record(AuditAction.BENCHMARK_KEPT, user, row, after={"runs": len(runs)})
    return row


def remove_result(user: User, result: BenchmarkResult) -> None:
    """Remove a result; addresses that compare it lose that column.

    Raises:
        NotAllowedError: the person is no operator of its team.
    """
    require_role(user, result.team, TeamRole.OPERATOR)
    with transaction.atomic():
        gone, _kinds = BenchmarkResult.objects.filter(pk=result.pk).delete()
        if gone:
            told = {"runs": result.run_count}
            record(AuditAction.BENCHMARK_REMOVED, user, result, before=told)

"""May this release act now? Asked under the claim, since votes, roles and times change meanwhile."""

from deployments.models import (
    ApprovalRequest,
    BreakGlass,
    ReleaseState,
    TeamRole,
)
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, said_by, text
from deployments.selectors.access import has_role
from deployments.selectors.break_glass import use_of
from deployments.services.approvals import check_approval
from deployments.services.break_glass import check_use
from deployments.services.errors import NotApprovedError, UseCaseError
from deployments.services.freezes import FrozenError, check_freeze
from deployments.services.quotas import QuotaExceededError, check_release
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Rollout
from deployments.services.schedules import (
    NotYetError,
    TooLateError,
    check_start_time,
)
from deployments.services.sharing import check_place


def prove_approval(rollout: Rollout) -> None:
    """Ask again whether the approval holds, or whoever broke the glass still may, and the quota.

    Raises:
        StepFailedError: one does not; the release ends blocked.
    """
    release = rollout.release
    release.request = ApprovalRequest.objects.select_related(
        "plan__revision__deployment__cluster", "plan__revision__deployment__team"
    ).get(pk=release.request_id)
    use = _use(rollout)
    try:
        if use is None:
            check_approval(release.request)
        else:
            check_use(use)
    except (NotApprovedError, PlanningError) as error:
        again = text("Submit the plan again and have it approved.")
        raise _blocked("not_approved", error, again) from error
    try:
        check_release(release)
    except QuotaExceededError as error:
        fewer = text("Stop another release of the team, or have its quota raised.")
        raise _blocked(error.code, error, fewer) from error


def prove_start(rollout: Rollout) -> None:
    """Ask once, before it begins, whether whoever started it still may, and may start it there.

    Raises:
        StepFailedError: the person lost the role or the account, or the cluster is not shared any
            more; the release ends blocked.
    """
    release = rollout.release
    starter, team = release.started_by, release.deployment.team
    # Of who broke the glass is asked something else, and as often as of an approval.
    if _use(rollout) is None and not has_role(starter, team, TeamRole.OPERATOR):
        raise StepFailedError(
            "not_allowed",
            text(
                "{name}, who started this, is no operator of the team any more.",
                name=str(starter),
            ),
            text("Have an operator of the team release it again."),
            final=ReleaseState.BLOCKED,
        )
    try:
        check_place(release.deployment)
    except NotApprovedError as error:
        again = text("Once it is shared for deployments again, release it again.")
        raise _blocked("not_shared", error, again) from error


def prove_moment(rollout: Rollout) -> None:
    """Ask whether it may begin now: what has begun is finished, whatever window opens or closes.

    Raises:
        StepFailedError: a freeze forbids it, or its time has not come or is over.
    """
    release = rollout.release
    if _use(rollout) is not None:
        return
    try:
        check_freeze(release.request, number=release.number)
        check_start_time(release.request)
    except (FrozenError, NotYetError) as error:
        later = text("Release it again when its time has come.")
        raise _blocked(error.code, error, later) from error
    except TooLateError as error:
        again = text("Submit the plan again and have it approved.")
        raise _blocked(error.code, error, again) from error


def may_begin(rollout: Rollout) -> bool:
    """Whether one that waits may begin now; a freeze or an early hour only lets it wait longer.

    Raises:
        StepFailedError: its time is over.
    """
    release = rollout.release
    if _use(rollout) is not None:
        return True
    try:
        check_freeze(release.request, number=release.number)
        check_start_time(release.request)
    except (FrozenError, NotYetError):
        return False
    except TooLateError as error:
        again = text("Submit the plan again and have it approved.")
        raise _blocked(error.code, error, again) from error
    return True


def _use(rollout: Rollout) -> BreakGlass | None:
    return use_of(rollout.release) if rollout.broke_glass else None


def _blocked(
    code: str, error: UseCaseError | PlanningError, next_action: Text
) -> StepFailedError:
    return StepFailedError(
        code, said_by(error), next_action, final=ReleaseState.BLOCKED
    )

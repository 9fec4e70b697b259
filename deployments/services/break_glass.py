"""Start without approval: a grant of its own, a reason, and a review by somebody else."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    BreakGlass,
    NoticeKind,
    Release,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.text import text
from deployments.selectors.break_glass import BREAKABLE, MAY_REVIEW
from deployments.selectors.plans import stored_plan
from deployments.selectors.votes import roles_on, team_of
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from deployments.services.notices.announcing import tell_of_release
from deployments.services.releases import begin_release
from deployments.services.sharing import check_place

BYPASSED = text(
    "Release {number} of {name} on {cluster} starts without approval; somebody else has to review that."
)


def break_glass(
    user: User, request: ApprovalRequest, key: str, *, reason: str, incident: str
) -> Release:
    """Release a request that is not approved, or that a freeze holds; everybody sees that for ever.

    The caller has just had the person prove who they are. The same key again, or another click on
    the same request, returns the first release.

    Raises:
        NotAllowedError: the person does not hold “Break glass”, which no role implies.
        ConflictError: no reason or incident is given, or the request has ended.
        NotApprovedError: the stored plan is not the one that was put to the vote, or the cluster is
            not shared with the team any more.
        PlanningError: the stored plan does not match its digest.
    """
    require_role(user, team_of(request), TeamRole.BREAK_GLASS)
    if TeamRole.BREAK_GLASS not in roles_on(user, request):
        owner = request.plan.revision.deployment.cluster.team
        require_role(user, owner, TeamRole.BREAK_GLASS)
    if not reason.strip() or not incident.strip():
        raise ConflictError(_("Give a reason and the incident it belongs to."))
    check_place(request.plan.revision.deployment)
    with transaction.atomic():
        row = ApprovalRequest.objects.select_for_update().get(pk=request.pk)
        used = BreakGlass.objects.filter(request=row, used_by=user).first()
        if used is not None:
            return used.release
        taken = ApprovalRequest.objects.filter(
            pk=row.pk, state__in=BREAKABLE, expires_at__gt=Now()
        ).update(state=RequestState.RELEASED, decided_at=timezone.now())
        if taken != 1:
            raise ConflictError(_("This request has already ended."))
        _prove_digest(request)
        release = begin_release(user, request, key)
        BreakGlass.objects.create(
            request=request,
            release=release,
            used_by=user,
            reason=reason.strip(),
            incident=incident.strip(),
            state_before=row.state,
        )
        tell_of_release(NoticeKind.BYPASSED, release, BYPASSED, actor=user)
        record(
            AuditAction.GLASS_BROKEN,
            user,
            release,
            after={"incident": incident.strip(), "digest": request.digest},
            reason=reason.strip(),
        )
    return release


def check_use(use: BreakGlass) -> None:
    """Prove under the claim that whoever broke the glass still may, for this very plan.

    Raises:
        NotApprovedError: the grant is gone, or the plan is another.
        PlanningError: the stored plan does not match its digest.
    """
    if TeamRole.BREAK_GLASS not in roles_on(use.used_by, use.request):
        raise NotApprovedError(
            text(
                "{name} may not start without approval any more.", name=str(use.used_by)
            )
        )
    _prove_digest(use.request)


def close_review(user: User, use: BreakGlass, review: str) -> None:
    """Say what is to be learnt from a use; somebody else than who used it.

    Raises:
        NotAllowedError: the person used it, or is neither approver nor admin of the team.
        ConflictError: nothing is said, or somebody has reviewed it.
    """
    if not roles_on(user, use.request) & MAY_REVIEW:
        raise NotAllowedError(
            _("A review needs the role “Approver” or “Team admin” in this team.")
        )
    if user.pk == use.used_by_id:
        raise NotAllowedError(
            _("You started this without approval: somebody else has to review it.")
        )
    if not review.strip():
        raise ConflictError(_("Say in a few words what came of it."))
    with transaction.atomic():
        closed = BreakGlass.objects.filter(pk=use.pk, reviewed_by=None).update(
            reviewed_by=user, reviewed_at=Now(), review=review.strip()
        )
        if closed != 1:
            raise ConflictError(_("Somebody has reviewed this already."))
        record(AuditAction.GLASS_REVIEWED, user, use.release, reason=review.strip())


def _prove_digest(request: ApprovalRequest) -> None:
    if stored_plan(request.plan).digest != request.digest:
        raise NotApprovedError(text("The plan is not the one that was approved."))

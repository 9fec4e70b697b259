"""Ask for the preflight of a request; a worker does it, since only it reaches Docker Engines."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Preflight,
    RequestState,
    User,
)
from deployments.selectors.preflight import may_ask
from deployments.selectors.votes import team_of
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.waking import wake

RUN_PREFLIGHT = "deployments.run_preflight"
ASKABLE = (RequestState.OPEN, RequestState.APPROVED, RequestState.RELEASED)


def ask_for_preflight(user: User, request: ApprovalRequest) -> None:
    """Have a worker check everything that would end a release of this plan; one preflight at a time.

    Raises:
        NotAllowedError: the person is neither operator nor approver of the team.
        ConflictError: the request has ended, or its deployment is being changed.
    """
    if not may_ask(user, request):
        raise NotAllowedError(
            _("This needs the role “Operator” or “Approver” in the team %(team)s.")
            % {"team": team_of(request).name}
        )
    if request.state not in ASKABLE:
        raise ConflictError(_("This request has ended, so nothing of it can run."))
    deployment = request.plan.revision.deployment
    if deployment.releases.filter(state__in=CHANGING_STATES).exists():
        raise ConflictError(
            _("%(name)s is being changed, and that checks by itself.")
            % {"name": deployment.name}
        )
    with transaction.atomic():
        row, _made = Preflight.objects.get_or_create(request=request)
        rows = Preflight.objects.filter(pk=row.pk).exclude(Preflight.waiting())
        rows.update(asked_at=Now())
        transaction.on_commit(lambda: wake(RUN_PREFLIGHT, [row.pk]))

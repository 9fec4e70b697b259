"""From what was measured to a request: a proposed change, or a canary that proved itself, put to the vote."""

import time
from dataclasses import replace

from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    Deployment,
    Release,
    ReleaseState,
    TargetModel,
    TeamRole,
    User,
)
from deployments.planning.canary import SEVERAL, instances, with_speculation
from deployments.planning.decision import AUTO
from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role
from deployments.planning.revision import RevisionSpec, SpeculationChoice
from deployments.selectors.advice_words import spoken
from deployments.selectors.canaries import tried
from deployments.selectors.next_changes import changes_of
from deployments.selectors.plans import stored_plan
from deployments.services.access import require_role
from deployments.services.errors import ConflictError
from deployments.services.plans import (
    PlanInputs,
    PlanningGround,
    ground_on_cluster,
    submit_plan,
)
from deployments.telemetry.next_changes import Proposal


def changed_spec(spec: RevisionSpec, proposal: Proposal) -> RevisionSpec:
    """The revision with a proposed change in it, for every replica."""
    if proposal.method is not None:
        spec = with_speculation(spec, _choice(proposal, proposal.method))
    if proposal.max_model_len is not None:
        limits = replace(spec.limits, max_model_len=proposal.max_model_len)
        spec = replace(spec, limits=limits)
    if proposal.max_num_seqs is not None:
        limits = replace(spec.limits, max_num_seqs=proposal.max_num_seqs)
        spec = replace(spec, limits=limits)
    return spec


def propose(
    user: User, deployment: Deployment, key: str, *, by_itself: bool = False
) -> ApprovalRequest:
    """Put a proposed change of what runs to the vote, as a canary where several replicas write replies.

    It asks for approval as any plan does; nothing starts by itself. ``key`` is that of a proposal
    that was shown. ``by_itself`` marks one that nobody asked for at this moment: the panel made it with
    the person's leave.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: nothing runs, a canary runs already, or the numbers no longer say so.
        PlanNotSubmittableError, PlanStaleError, QuotaExceededError: as ``submit_plan``.
        PlanningError: the change cannot be planned.
    """
    require_role(user, deployment.team, TeamRole.OPERATOR)
    live, plan, spec = _running(deployment)
    if plan.canary is not None:
        raise ConflictError(
            _("A canary runs already: promote it or roll it back first.")
        )
    found = changes_of(deployment, live, plan, int(time.time()))
    proposal = next((one for one in found if one.key == key), None)
    if proposal is None:
        raise ConflictError(
            _("This is no longer proposed: what was measured has changed. Look again.")
        )
    inputs = _inputs(deployment, spec)
    ground = ground_on_cluster(inputs, deployment.name)
    wanted, planned = _planned(ground, spec, plan, proposal)
    reasons = " ".join(map(spoken, (proposal.said, *proposal.because)))
    if by_itself:
        said = _("Proposed by the panel on its schedule.")
        reasons = f"{said} {reasons}"
    return submit_plan(
        user, inputs, wanted, shown_digest=planned.digest, comment=reasons
    )


def promote(user: User, deployment: Deployment) -> ApprovalRequest:
    """Put to the vote that every replica drafts as the live canary does.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: no canary runs.
        PlanNotSubmittableError, PlanStaleError, QuotaExceededError: as ``submit_plan``.
        PlanningError: the change cannot be planned.
    """
    require_role(user, deployment.team, TeamRole.OPERATOR)
    _live, plan, spec = _running(deployment)
    if spec.canary is None:
        raise ConflictError(_("No canary runs, so there is nothing to promote."))
    choice = spec.canary
    apart = any(one.role is Role.PREFILL for one in plan.replicas)
    if apart and choice.method == AUTO:
        choice = replace(choice, method=plan.decision.method)
    wanted = with_speculation(spec, choice)
    inputs = _inputs(deployment, spec)
    planned = ground_on_cluster(inputs, deployment.name).plan(wanted)
    said = _("The canary, %(canary)s, for every replica.") % {"canary": tried(plan)}
    return submit_plan(user, inputs, wanted, shown_digest=planned.digest, comment=said)


def _running(deployment: Deployment) -> tuple[Release, Plan, RevisionSpec]:
    live = (
        Release.objects.filter(deployment=deployment, state=ReleaseState.LIVE)
        .select_related("plan__revision")
        .first()
    )
    if live is None:
        raise ConflictError(_("Nothing runs now, so there is nothing to change."))
    plan = stored_plan(live.plan)
    return live, plan, from_document(RevisionSpec, live.plan.revision.document)


def _inputs(deployment: Deployment, spec: RevisionSpec) -> PlanInputs:
    cluster = deployment.cluster
    names = {name for role in spec.roles for name in role.hosts}
    rows = TargetModel.objects.filter(
        team=deployment.team_id, key=spec.model
    ) or TargetModel.objects.filter(team=None, key=spec.model)
    model = rows.first()
    if model is None:
        raise ConflictError(
            _("The catalog no longer has %(model)s, so nothing can be planned for it.")
            % {"model": spec.model}
        )
    hosts = cluster.hosts.filter(name__in=names).select_related(
        "probe", "model_listing"
    )
    return PlanInputs(
        cluster=cluster, hosts=tuple(hosts), model=model, team=deployment.team
    )


def _planned(
    ground: PlanningGround, spec: RevisionSpec, plan: Plan, proposal: Proposal
) -> tuple[RevisionSpec, Plan]:
    """The revision to ask for with its plan: as a canary where that can be, else for every replica."""
    if proposal.method is not None and len(instances(plan)) >= SEVERAL:
        canary = replace(spec, canary=_choice(proposal, proposal.method))
        try:
            made = ground.plan(canary)
        except PlanningError:
            made = None
        if made is not None and made.can_submit:
            return canary, made
    wanted = changed_spec(spec, proposal)
    return wanted, ground.plan(wanted)


def _choice(proposal: Proposal, method: str) -> SpeculationChoice:
    return SpeculationChoice(
        method=method,
        num_speculative_tokens=proposal.num_speculative_tokens,
        drafter=proposal.drafter,
    )

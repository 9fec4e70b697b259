"""Put a planned revision to the vote: deployment, revision, plan and request in one transaction."""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    Cluster,
    Deployment,
    Host,
    NoticeKind,
    Plan,
    ReleaseState,
    RequestState,
    Revision,
    TargetModel,
    Team,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import assess
from deployments.planning.canonical import canonical_json
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.documents import to_document
from deployments.planning.errors import PlanningError
from deployments.planning.measured import Measured
from deployments.planning.plan import Plan as PlanValue
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from deployments.planning.text import Text, text
from deployments.selectors.engine_profiles import own_profiles_for
from deployments.selectors.measured_here import measured_here
from deployments.selectors.planning_inputs import (
    catalog_entry,
    cluster_settings,
    host_snapshots,
    secret_versions,
)
from deployments.selectors.plans import stored_plan
from deployments.selectors.policies import current_rules, environment
from deployments.selectors.sharing import may_deploy_on
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import (
    NotAllowedError,
    PlanNotSubmittableError,
    PlanStaleError,
)
from deployments.services.notices.announcing import tell_of_request
from deployments.services.quotas import check_request


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInputs:
    """The rows behind a revision: where it runs, what it serves, and for which team.

    ``new_in`` is the environment of a deployment that the plan is the first of; one that there is
    keeps its own.
    """

    cluster: Cluster
    hosts: tuple[Host, ...]
    model: TargetModel
    team: Team
    new_in: str = ""


_NAME_TAKEN = text(
    "Another team has a deployment of this name on the cluster: choose another name."
)


def next_revision_number(cluster: Cluster, team: Team, name: str) -> int:
    """The number that the next revision of this deployment will have.

    Raises:
        PlanningError: the name is another team's on the cluster. A plan replaces what runs under
            its name and reads what was measured there.
    """
    known = (
        Deployment.objects.filter(cluster=cluster, name=name)
        .order_by()
        .annotate(newest=Max("revisions__number"))
        .values_list("team", "newest")
        .first()
    )
    if known is None:
        return 1
    if known[0] != team.pk:
        raise PlanningError(_NAME_TAKEN)
    return (known[1] or 0) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningGround:
    """What revisions are planned against; several can be planned on one reading of the fleet.

    ``measured`` was seen on the deployment itself. ``team_id`` is whose secrets a revision may name.
    """

    number: int
    model: CatalogEntry
    hosts: tuple[HostSnapshot, ...]
    settings: ClusterSettings
    measured: tuple[Measured, ...] = ()
    team_id: UUID | None = None

    def plan(self, spec: RevisionSpec) -> PlanValue:
        """Plan the revision under this ground's number.

        Raises:
            PlanningError: the specification cannot be planned.
        """
        numbered = replace(spec, number=self.number)
        engines = own_profiles_for(spec.engine)
        return make_plan(
            numbered,
            self.model,
            self.hosts,
            replace(self.settings, secrets=secret_versions(self.team_id, spec.api_key)),
            engines,
            measured=self.measured,
        )


def ground_on_cluster(
    inputs: PlanInputs, name: str, *, just_read: bool = False
) -> PlanningGround:
    """Read what the next revision of the deployment ``name`` is planned against, in six queries.

    One less where this request has ``just_read`` the hosts itself.

    Raises:
        PlanningError: the catalog entry cannot be read, or the name is another team's there.
    """
    number = next_revision_number(inputs.cluster, inputs.team, name)
    return PlanningGround(
        number=number,
        model=catalog_entry(inputs.model),
        hosts=host_snapshots(inputs.hosts, except_deployment=name, just_read=just_read),
        settings=cluster_settings(inputs.cluster),
        measured=measured_here(inputs.cluster, name) if number > 1 else (),
        team_id=inputs.team.pk,
    )


def plan_on_cluster(inputs: PlanInputs, spec: RevisionSpec) -> PlanValue:
    """Plan the revision as the next of its deployment against the fleet as it is known now.

    Raises:
        PlanningError: the specification cannot be planned.
    """
    return ground_on_cluster(inputs, spec.name).plan(spec)


def submit_plan(
    user: User,
    inputs: PlanInputs,
    spec: RevisionSpec,
    *,
    shown_digest: str,
    comment: str = "",
) -> ApprovalRequest:
    """Store revision and plan, and ask for approval of exactly the digest that was shown.

    Raises:
        NotAllowedError: the person is no operator of the team, or it may not deploy there.
        PlanNotSubmittableError: the plan has errors among its findings.
        PlanStaleError: planning now gives another digest than the one shown.
        QuotaExceededError: the team would hold more devices than it may.
        PlanningError: the specification cannot be planned.
    """
    require_role(user, inputs.team, TeamRole.OPERATOR)
    if not may_deploy_on(inputs.team, inputs.cluster):
        raise NotAllowedError(
            _("%(cluster)s is not shared with the team %(team)s for deployments.")
            % {"cluster": inputs.cluster.name, "team": inputs.team.name}
        )
    known = _same_open_request(user, inputs.cluster, spec.name, shown_digest)
    if known is not None:
        return known
    try:
        with transaction.atomic():
            request = _submit(user, inputs, spec, shown_digest, comment)
            check_request(request)
            tell_of_request(
                NoticeKind.REQUESTED, request, _asked_for(request.plan), actor=user
            )
            told = {"digest": request.digest, "risk": request.risk}
            record(AuditAction.REQUEST_SUBMITTED, user, request, after=told)
            return request
    except (IntegrityError, PlanStaleError) as error:
        # A click at the same instant may have stored this very plan meanwhile.
        known = _same_open_request(user, inputs.cluster, spec.name, shown_digest)
        if known is not None:
            return known
        if isinstance(error, PlanStaleError):
            raise
        raise PlanStaleError(
            _(
                "Somebody submitted a revision of this deployment at the same moment. "
                "Look at the new plan and submit that."
            )
        ) from error


def _asked_for(plan: Plan) -> Text:
    count = plan.num_speculative_tokens
    return text(
        "Revision {revision} of {name} is to run on {cluster} with {method}.",
        method=plan.method if count is None else f"{plan.method} ({count})",
    )


def _submit(
    user: User, inputs: PlanInputs, spec: RevisionSpec, shown_digest: str, comment: str
) -> ApprovalRequest:
    value = plan_on_cluster(inputs, spec)
    if value.digest != shown_digest:
        raise PlanStaleError(
            _(
                "The fleet, the catalog or what is measured here changed since this plan was shown. "
                "Look at the new plan and submit that."
            )
        )
    if not value.can_submit:
        raise PlanNotSubmittableError(_("The plan has errors. Mend them, then submit."))
    deployment, _made = Deployment.objects.get_or_create(
        cluster=inputs.cluster,
        name=spec.name,
        defaults={
            "created_by": user,
            "team": inputs.team,
            "environment": inputs.new_in,
        },
    )
    if deployment.team_id != inputs.team.pk:
        raise PlanningError(_NAME_TAKEN)
    within = environment(deployment.environment)
    rules = current_rules(inputs.cluster).within(within)
    found = assess(value, _live_plan(deployment), rules, within)
    plan = _store(user, deployment, value)
    _supersede_open_requests(deployment)
    return ApprovalRequest.objects.create(
        plan=plan,
        digest=plan.digest,
        submitted_by=user,
        comment=comment,
        requires_other_approver=inputs.cluster.requires_other_approver,
        policy_version=inputs.cluster.policy_version,
        environment=deployment.environment,
        risk=found.risk.value,
        risk_reasons=[one.document for one in found.reasons],
        approvals_needed=rules.needed(found.risk),
        approved_hours=rules.approved_hours,
        wait_minutes=rules.wait_minutes,
        expires_at=timezone.now() + timedelta(hours=rules.open_hours),
    )


def _live_plan(deployment: Deployment) -> PlanValue | None:
    """What runs now; ``None`` where nothing does, or where it cannot be read any more."""
    row = Plan.objects.filter(
        revision__deployment=deployment, releases__state=ReleaseState.LIVE
    ).first()
    try:
        return stored_plan(row) if row is not None else None
    except PlanningError:
        return None


def _same_open_request(
    user: User, cluster: Cluster, name: str, digest: str
) -> ApprovalRequest | None:
    """A second click on submit finds the first one's request."""
    return ApprovalRequest.objects.filter(
        plan__revision__deployment__cluster=cluster,
        plan__revision__deployment__name=name,
        digest=digest,
        submitted_by=user,
        state=RequestState.OPEN,
    ).first()


def _store(user: User, deployment: Deployment, value: PlanValue) -> Plan:
    # The number that was planned, so that two submissions at once collide here.
    number = value.revision["number"]
    if not isinstance(number, int):
        raise TypeError("a revision's number is an integer")
    revision = Revision.objects.create(
        deployment=deployment,
        number=number,
        document=to_document(value.revision),
        created_by=user,
    )
    return Plan.objects.create(
        revision=revision,
        document=canonical_json(value.document).decode(),
        digest=value.digest,
        can_submit=value.can_submit,
        practice=value.practice,
        method=value.decision.method,
        num_speculative_tokens=value.num_speculative_tokens,
        model_key=value.model,
        schema_version=value.schema_version,
        planner_version=value.planner_version,
    )


def _supersede_open_requests(deployment: Deployment) -> None:
    ApprovalRequest.objects.filter(
        plan__revision__deployment=deployment,
        state__in=[RequestState.OPEN, RequestState.APPROVED],
    ).update(state=RequestState.SUPERSEDED, decided_at=timezone.now())

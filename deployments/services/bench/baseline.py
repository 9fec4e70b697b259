"""The arm without speculation: planned from what is live, put to the vote, compared with what runs."""

from django.db.models import Q
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    Host,
    Release,
    TargetModel,
    User,
)
from deployments.planning.bench.arms import (
    arm_differences,
    with_limits_of,
    without_speculation,
)
from deployments.planning.documents import from_document
from deployments.planning.plan import Plan as PlanValue
from deployments.planning.revision import RevisionSpec
from deployments.selectors.plans import stored_plan
from deployments.selectors.texts import say
from deployments.services.errors import ConflictError
from deployments.services.plans import PlanInputs, plan_on_cluster, submit_plan
from deployments.services.schedules import plan_start

MOST_SAID = 3


def ask_for_baseline(user: User, live: Release, comment: str) -> ApprovalRequest:
    """Put the live revision without speculation to the vote; it starts by itself once approved.

    Raises:
        NotAllowedError: the person is no operator of the team.
        PlanningError: it cannot be planned, or speculation is off already.
        ConflictError: it would differ in more than speculation, or cannot be submitted.
    """
    spec = without_speculation(spec_of(live))
    inputs = _inputs(live, spec)
    on, value = stored_plan(live.plan), plan_on_cluster(inputs, spec)
    if arm_differences(on, value):
        spec = with_limits_of(spec, on)
        value = plan_on_cluster(inputs, spec)
    prove_pair(on, value)
    request = submit_plan(
        user, inputs, spec, shown_digest=value.digest, comment=comment
    )
    if not request.starts_itself:
        plan_start(user, request, None, by_itself=True, zone="")
    return request


def spec_of(release: Release) -> RevisionSpec:
    """The revision that a release runs.

    Raises:
        PlanningError: this panel cannot read it.
    """
    return from_document(RevisionSpec, release.plan.revision.document)


def prove_pair(on: PlanValue, off: PlanValue) -> None:
    """Refuse plans that differ in more than speculation.

    Raises:
        ConflictError: they do; the sentences say in what.
    """
    found = arm_differences(on, off)
    if found:
        said = [say(one) for one in found[:MOST_SAID]]
        said.append(_("Set it in both revisions and release them first."))
        raise ConflictError(" ".join(said))


def _inputs(live: Release, spec: RevisionSpec) -> PlanInputs:
    cluster = live.deployment.cluster
    names = {name for role in spec.roles for name in role.hosts}
    hosts = tuple(Host.objects.filter(cluster=cluster, name__in=names))
    missing = names - {host.name for host in hosts}
    if missing:
        raise ConflictError(
            _("The host %(host)s is no longer in this cluster. Plan again.")
            % {"host": min(missing)}
        )
    rows = TargetModel.objects.filter(
        Q(team=None) | Q(team=live.deployment.team_id), key=spec.model
    )
    model = max(rows, key=lambda row: row.team_id is not None, default=None)
    if model is None:
        raise ConflictError(
            _("The model %(model)s is no longer in the catalog.")
            % {"model": spec.model}
        )
    return PlanInputs(
        cluster=cluster, hosts=hosts, model=model, team=live.deployment.team
    )

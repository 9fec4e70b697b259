"""Rows around real plans: stored as the panel stores them, put to the vote, released."""

from deployments.models import (
    Approval,
    ApprovalRequest,
    Decision,
    Deployment,
    Plan,
    Release,
    ReleaseState,
    Replica,
    RequestState,
    User,
)
from deployments.planning.canonical import canonical_json
from deployments.planning.plan import Plan as PlanValue
from tests.factories import (
    ApprovalFactory,
    ApprovalRequestFactory,
    HostFactory,
    PlanFactory,
    ReleaseFactory,
    ReplicaFactory,
    RevisionFactory,
)


def stored(deployment: Deployment, value: PlanValue) -> Plan:
    """A stored plan of the revision whose number the plan names, by the deployment's author."""
    revision = RevisionFactory.create(
        deployment=deployment,
        number=value.revision["number"],
        document=value.revision,
        created_by=deployment.created_by,
    )
    return PlanFactory.create(
        revision=revision,
        document=canonical_json(value.document).decode(),
        digest=value.digest,
        practice=value.practice,
        method=value.decision.method,
        num_speculative_tokens=value.decision.num_speculative_tokens,
        model_key=value.model,
    )


def request_for(
    plan: Plan, state: RequestState = RequestState.OPEN, comment: str = ""
) -> ApprovalRequest:
    """A request of the revision's author under the cluster's policy."""
    return ApprovalRequestFactory.create(
        plan=plan,
        state=state,
        comment=comment,
        submitted_by=plan.revision.created_by,
        requires_other_approver=plan.revision.deployment.cluster.requires_other_approver,
    )


def vote(
    request: ApprovalRequest, user: User, decision: Decision = Decision.APPROVE
) -> Approval:
    """A vote as it stands in the table, without asking whether it may."""
    return ApprovalFactory.create(request=request, user=user, decision=decision)


def released(
    plan: Plan,
    value: PlanValue,
    state: ReleaseState = ReleaseState.LIVE,
    number: int = 1,
) -> Release:
    """A release of a stored plan with one replica row for each planned one."""
    deployment = plan.revision.deployment
    release = ReleaseFactory.create(
        deployment=deployment,
        plan=plan,
        request=request_for(plan, RequestState.RELEASED),
        number=number,
        state=state,
        started_by=plan.revision.created_by,
    )
    for planned in value.replicas:
        replica_of(release, value, planned.rank)
    return release


def replica_of(release: Release, value: PlanValue, rank: int = 0) -> Replica:
    """The row of one planned replica; its host is made when the cluster lacks it."""
    cluster = release.deployment.cluster
    planned = next(one for one in value.replicas if one.rank == rank)
    host = cluster.hosts.filter(name=planned.host).first() or HostFactory.create(
        cluster=cluster, name=planned.host
    )
    return ReplicaFactory.create(
        release=release,
        host=host,
        role=planned.role,
        rank=planned.rank,
        canary=planned.canary,
        container_name=planned.container.name,
    )

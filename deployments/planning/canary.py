"""A canary: one replica of a revision that drafts in another way, to be compared with the others.

The revision is planned twice, once as it is and once with the canary's speculation for all. The
canary's containers are those of the second plan at the place of the last instance of the role
that writes replies; devices, ports and names stay those of the first.
"""

from collections.abc import Callable
from dataclasses import replace

from deployments.planning.canonical import Json
from deployments.planning.decision import AUTO, OFF
from deployments.planning.documents import to_document
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Finding, Plan, PlannedReplica, Role, in_order
from deployments.planning.revision import RevisionSpec, SpeculationChoice, Topology
from deployments.planning.text import said_by, text

SEVERAL = 2


def revision_document(spec: RevisionSpec) -> dict[str, Json]:
    """The revision as JSON values; a canary that there is not is left out, as it was before there were any."""
    document = to_document(spec)
    if not isinstance(document, dict):
        raise TypeError("a revision is a JSON object")
    if spec.canary is None:
        del document["canary"]
    return document


def with_speculation(spec: RevisionSpec, choice: SpeculationChoice) -> RevisionSpec:
    """The revision with another choice for all and no canary.

    Roles that write replies have no count of their own beside it.
    """
    roles = tuple(
        role
        if role.role is Role.PREFILL and choice.method != OFF
        else replace(role, num_speculative_tokens=None)
        for role in spec.roles
    )
    return replace(spec, speculation=choice, roles=roles, canary=None)


def instances(plan: Plan) -> tuple[tuple[PlannedReplica, ...], ...]:
    """The servers of the role that writes replies, each with all of its containers."""
    found: list[list[PlannedReplica]] = []
    for replica in plan.replicas:
        if replica.role in {Role.PREFILL, Role.ROUTER}:
            continue
        if replica.health_port is not None or not found:
            found.append([])
        found[-1].append(replica)
    return tuple(map(tuple, found))


def with_canary(
    own: Plan,
    spec: RevisionSpec,
    canary: SpeculationChoice,
    made: Callable[[RevisionSpec], Plan],
) -> Plan:
    """The plan with its last instance drafting as ``canary`` says; ``made`` plans a revision.

    Raises:
        PlanningError: there is one instance alone, the canary cannot be planned, would draft as all
            the others do, or would take other devices or ports.
    """
    servers = instances(own)
    if len(servers) < SEVERAL:
        raise PlanningError(
            text(
                "A canary is one replica beside others, and {name} has one that writes replies; "
                "give it more hosts, or change the speculation of the whole deployment.",
                name=spec.name,
            )
        )
    _refuse_other_method(own, spec, canary)
    try:
        other = made(_tried(own, spec, canary))
    except PlanningError as error:
        raise PlanningError(
            text("The canary cannot be planned: {why}", why=said_by(error))
        ) from error
    standing, trying = servers[-1], instances(other)[-1]
    if list(map(_place, standing)) != list(map(_place, trying)):
        raise PlanningError(
            text(
                "The canary with {method} would take other devices or ports than the replica it "
                "stands in for; try it as a deployment of its own.",
                method=other.decision.method,
            )
        )
    if [one.container for one in standing] == [one.container for one in trying]:
        raise PlanningError(
            text(
                "The canary would draft just as the other replicas do; choose another method or "
                "another count for it, or leave it out."
            )
        )
    first = own.replicas.index(standing[0])
    replicas = list(own.replicas)
    replicas[first : first + len(standing)] = [
        replace(one, canary=True) for one in trying
    ]
    return replace(
        own,
        revision=revision_document(spec),
        replicas=tuple(replicas),
        findings=in_order(
            [
                *own.findings,
                *(_of_canary(one) for one in other.findings if one not in own.findings),
            ]
        ),
    )


def _refuse_other_method(
    own: Plan, spec: RevisionSpec, canary: SpeculationChoice
) -> None:
    """Prefill prepares the cache of the drafter too, so decode cannot draft in another way alone."""
    if spec.topology is not Topology.DISAGGREGATED:
        return
    count = canary.num_speculative_tokens
    if canary.method not in {AUTO, own.decision.method} or own.decision.method == OFF:
        raise PlanningError(
            text(
                "With prefill and decode apart, the cache that prefill hands over belongs to its "
                "method, {method}; a canary there can only try another num_speculative_tokens.",
                method=own.decision.method,
            )
        )
    if count is None or count < 1:
        raise PlanningError(
            text(
                "The canary says no num_speculative_tokens; with prefill and decode apart it is "
                "the only thing that a canary can try, so name one of 1 or more."
            )
        )


def _tried(own: Plan, spec: RevisionSpec, canary: SpeculationChoice) -> RevisionSpec:
    """The revision with the canary's speculation where replies are written, and prefill as it is."""
    tried = with_speculation(spec, canary)
    if spec.topology is not Topology.DISAGGREGATED:
        return tried
    before = next(one for one in own.replicas if one.role is Role.PREFILL).speculation
    count = before.num_speculative_tokens if before else 0
    roles = tuple(
        replace(role, num_speculative_tokens=count)
        if role.role is Role.PREFILL
        else role
        for role in tried.roles
    )
    kept = replace(
        canary,
        method=own.decision.method,
        drafter=canary.drafter or spec.speculation.drafter,
    )
    return replace(tried, speculation=kept, roles=roles)


def _place(replica: PlannedReplica) -> tuple[object, ...]:
    container = replica.container
    return (
        replica.role,
        replica.rank,
        replica.host,
        replica.devices,
        replica.health_port,
        container.name,
        container.image,
        container.ports,
        container.network_mode,
    )


def _of_canary(finding: Finding) -> Finding:
    return replace(finding, message=text("Canary: {said}", said=finding.message))

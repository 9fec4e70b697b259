"""What is measured: the replica that clients talk to, and the engine whose image holds the client."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.models import Release, Replica
from deployments.planning.bench.invocation import Served
from deployments.planning.engines.arguments import PROGRAM
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.engine_profiles import known_profile
from deployments.selectors.plans import stored_plan
from deployments.services.errors import ConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A replica with an address, the engine on the same host, and how the client calls them."""

    replica: Replica
    engine: Replica
    planned: PlannedReplica
    """The engine's part of the plan: image, mounts, user, environment, secrets."""
    served: Served


def measured_of(release: Release) -> Measured:
    """What a benchmark of a release talks to: its router, where it has one, else the first engine.

    Raises:
        PlanningError: the stored plan cannot be read.
        ConflictError: nothing of it answers requests, no engine is on the router's host, or its router
            spreads requests over a canary and the others, which would measure neither.
    """
    plan = stored_plan(release.plan)
    rows = {
        (row.role, row.rank): row
        for row in release.replicas.select_related("host__cluster")
    }
    seats = [
        (rows[one.role.value, one.rank], one)
        for one in plan.replicas
        if (one.role.value, one.rank) in rows
    ]
    asked = [seat for seat in seats if seat[1].health_port is not None]
    fronts = [seat for seat in asked if seat[1].role is Role.ROUTER] or [
        seat for seat in asked if seat[1].role is Role.COMBINED
    ]
    if not fronts:
        raise ConflictError(
            _(
                "Nothing of this release answers requests on its own, so nothing can be measured."
            )
        )
    row, front = fronts[0]
    if front.role is Role.ROUTER and plan.canary is not None:
        raise ConflictError(
            _("A canary runs already: promote it or roll it back first.")
        )
    engines = [
        seat
        for seat in seats
        if seat[0].host_id == row.host_id
        and seat[1].container.command[: len(PROGRAM)] == PROGRAM
    ]
    if front.role is Role.COMBINED:
        engines = [fronts[0]]
    if not engines:
        raise ConflictError(
            _(
                "No engine runs on %(host)s beside the router, and the client comes from the image of an engine: "
                "place one there."
            )
            % {"host": row.host.name}
        )
    engine, planned = engines[0]
    return Measured(
        replica=row,
        engine=engine,
        planned=planned,
        served=Served(
            base_url=f"http://127.0.0.1:{_port_inside(front)}",
            name=planned.served_model_name,
            tokenizer=planned.container.command[len(PROGRAM)],
            version=vllm_version(plan),
        ),
    )


def _port_inside(front: PlannedReplica) -> int:
    """The port in the container's own network."""
    for port in front.container.ports:
        if port.host == front.health_port:
            return port.container
    return front.health_port or 0


def vllm_version(plan: Plan) -> str:
    """The vLLM whose client the image holds: vllm-ascend stands on one, with numbers of its own."""
    try:
        return known_profile(f"{plan.engine}=={plan.engine_version}").vllm_version
    except PlanningError:
        return plan.engine_version

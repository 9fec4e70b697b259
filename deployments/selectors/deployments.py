"""What the list of deployments and the pages of one deployment show."""

import shlex
import time
from dataclasses import dataclass

from django.db.models import OuterRef, Q, QuerySet, Subquery

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Deployment,
    Release,
    ReleaseState,
    Replica,
    Revision,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.acceptance_summary import AcceptanceSummary, acceptance_of
from deployments.selectors.access import has_role
from deployments.selectors.releases import STOPPABLE, planned_replica, readable_plan

FILTERS = ("all", "live", "changing", "failed")
ENDPOINT_ROLES = (Role.ROUTER, Role.COMBINED)
FAILED_STATES = (ReleaseState.FAILED, ReleaseState.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentLine:
    """One deployment in the list; ``summary`` is of the last 24 hours."""

    row: Deployment
    live: Release | None
    newest: Release | None
    hosts: tuple[str, ...]
    summary: AcceptanceSummary

    @property
    def shown(self) -> Release | None:
        """The release whose method the line shows: the live one, else the newest."""
        return self.live or self.newest

    @property
    def state(self) -> str:
        """The state of the newest release while it moves or failed, else of the live one."""
        if self.newest and self.newest.state in (*CHANGING_STATES, *FAILED_STATES):
            return self.newest.state
        return self.shown.state if self.shown else ""

    def fits(self, chosen: str) -> bool:
        """Whether a filter of the list keeps this line."""
        return {
            "live": self.live is not None,
            "changing": self.state in CHANGING_STATES,
            "failed": self.state in FAILED_STATES,
        }.get(chosen, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where clients send requests; ``url`` is empty while the host's address is not known."""

    url: str
    port: int
    host: str
    model: str

    @property
    def request(self) -> str:
        """A request to try it, as a shell takes it."""
        body = (
            f'{{"model": "{self.model}", "messages": '
            '[{"role": "user", "content": "Say hello."}]}'
        )
        words = ["-H", "Content-Type: application/json", "-d", body]
        return f"curl {shlex.join([f'{self.url}/chat/completions', *words])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPage:
    """What stands above the tabs of a deployment."""

    row: Deployment
    live: Release | None
    newest: Release | None
    plan: Plan | None
    replicas: tuple[Replica, ...]
    endpoint: Endpoint | None
    may_operate: bool
    revision: Revision | None

    @property
    def shown(self) -> Release | None:
        """The live release, else the newest."""
        return self.live or self.newest

    @property
    def moving(self) -> Release | None:
        """The newest release while it changes what runs."""
        newest = self.newest
        return newest if newest and newest.state in CHANGING_STATES else None

    @property
    def running(self) -> int:
        """Replicas that were last seen running."""
        return sum(1 for replica in self.replicas if replica.state == "running")

    @property
    def can_stop(self) -> bool:
        """Whether stopping may be asked for now."""
        return (
            self.may_operate
            and self.moving is None
            and self.shown is not None
            and self.shown.state in STOPPABLE
        )


def deployments_for(user: User) -> ScopedQuerySet[Deployment]:
    """Deployments of the person's teams."""
    return Deployment.objects.for_user(user).select_related("cluster__team")


def deployment_lines(user: User) -> list[DeploymentLine]:
    """Every deployment with what runs and what was accepted, in five queries."""
    newest = Release.objects.filter(deployment=OuterRef("pk")).order_by("-number")
    rows = list(
        deployments_for(user).annotate(newest_id=Subquery(newest.values("pk")[:1]))
    )
    current = Q(state=ReleaseState.LIVE) | Q(pk__in=[row.newest_id for row in rows])
    by_id = {row.pk: row for row in _releases().filter(current, deployment__in=rows)}
    live = {
        row.deployment_id: row
        for row in by_id.values()
        if row.state == ReleaseState.LIVE
    }
    hosts: dict[object, dict[str, None]] = {}
    replicas = Replica.objects.filter(release__in=list(by_id)).select_related("host")
    for replica in replicas:
        hosts.setdefault(replica.release_id, {})[replica.host.name] = None
    summaries = acceptance_of([row.pk for row in rows], time.time_ns())
    lines = []
    for row in rows:
        shown = live.get(row.pk) or by_id.get(row.newest_id)
        lines.append(
            DeploymentLine(
                row=row,
                live=live.get(row.pk),
                newest=by_id.get(row.newest_id),
                hosts=tuple(hosts.get(shown.pk, ())) if shown else (),
                summary=summaries[row.pk],
            )
        )
    return lines


def deployment_page(user: User, row: Deployment) -> DeploymentPage:
    """Read what stands above the tabs, in five queries."""
    live = _releases().filter(deployment=row, state=ReleaseState.LIVE).first()
    newest = _releases().filter(deployment=row).order_by("-number").first()
    shown = live or newest
    plan = readable_plan(shown) if shown else None
    replicas = tuple(shown.replicas.select_related("host")) if shown else ()
    return DeploymentPage(
        row=row,
        live=live,
        newest=newest,
        plan=plan,
        replicas=replicas,
        endpoint=_endpoint(plan, replicas),
        may_operate=has_role(user, row.cluster.team, TeamRole.OPERATOR),
        revision=shown.plan.revision if shown else row.revisions.first(),
    )


def release_history(row: Deployment) -> QuerySet[Release]:
    """Every release of a deployment, newest first."""
    return _releases().filter(deployment=row).order_by("-number")


def revision_history(row: Deployment) -> QuerySet[ApprovalRequest]:
    """Every request of a deployment, newest first: its revisions and what became of them."""
    return ApprovalRequest.objects.filter(
        plan__revision__deployment=row
    ).select_related("plan__revision__created_by", "submitted_by")


def _releases() -> QuerySet[Release]:
    return Release.objects.select_related(
        "plan__revision__deployment", "started_by", "replaces"
    )


def _endpoint(plan: Plan | None, replicas: tuple[Replica, ...]) -> Endpoint | None:
    for role in ENDPOINT_ROLES:
        for row in replicas:
            planned = planned_replica(plan, row)
            port = _api_port(planned) if row.role == role else None
            if planned is not None and port is not None:
                address = row.host.address
                shown = f"[{address}]" if ":" in address else address
                return Endpoint(
                    url=f"http://{shown}:{port}/v1" if address else "",
                    port=port,
                    host=row.host.name,
                    model=planned.served_model_name,
                )
    return None


def _api_port(planned: PlannedReplica | None) -> int | None:
    ports = planned.container.ports if planned else ()
    return next((port.host for port in ports if port.purpose == "api"), None)

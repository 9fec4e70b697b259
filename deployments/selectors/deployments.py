"""What the pages of one deployment show."""

import shlex
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Deployment,
    Host,
    Reachability,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
    Revision,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.access import roles_in
from deployments.selectors.earlier_releases import (
    NOTHING_AGAIN,
    Repeats,
    recent_releases,
    repeats_of,
)
from deployments.selectors.emergencies import MAY_STOP, may_run
from deployments.selectors.releases import (
    may_be_stopped,
    planned_replica,
    readable_plan,
)
from deployments.selectors.standings import NOT_SPECULATING, silent_since

SEEN_WHILE_REACHED = (
    ReplicaState.CREATED,
    ReplicaState.RUNNING,
    ReplicaState.UNKNOWN,
)
ENDPOINT_ROLES = (Role.ROUTER, Role.COMBINED)


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
    administrates: bool
    may_stop_at_once: bool
    revision: Revision | None
    repeats: Repeats

    @property
    def drifted(self) -> tuple[Replica, ...]:
        """Replicas of the shown release that are not as it says."""
        return tuple(replica for replica in self.replicas if replica.drift)

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
    def speculates(self) -> bool:
        """Whether what is shown drafts at all."""
        return self.shown is not None and self.shown.plan.method not in NOT_SPECULATING

    @property
    def silent_since(self) -> datetime | None:
        """Since when nothing was heard of what is live, if that is worth a word."""
        return silent_since(self.row, self.live)

    @property
    def unseen(self) -> tuple[Host, ...]:
        """Hosts that do not answer, of replicas that may still run there."""
        hosts = {
            replica.host.pk: replica.host
            for replica in self.replicas
            if replica.host.reachability == Reachability.UNREACHABLE
            and replica.state in SEEN_WHILE_REACHED
        }
        return tuple(hosts.values())

    @property
    def unseen_replicas(self) -> int:
        """Replicas of which nobody knows whether they run."""
        return sum(1 for replica in self.replicas if replica.state == "unknown")

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
            and may_be_stopped(self.shown.state, self.replicas)
        )


def deployments_for(user: User) -> ScopedQuerySet[Deployment]:
    """Deployments of the person's teams."""
    return Deployment.objects.for_user(user).select_related(
        "cluster", "team", "standing"
    )


def shown_release(row: Deployment) -> Release | None:
    """The live release of a deployment, else its newest."""
    releases = Release.objects.filter(deployment=row).select_related(
        "deployment__cluster", "deployment__team"
    )
    live = releases.filter(state=ReleaseState.LIVE).first()
    return live or releases.order_by("-number").first()


def deployment_page(user: User, row: Deployment) -> DeploymentPage:
    """Read what stands above the tabs, in five queries."""
    recent = recent_releases(row.pk)
    newest = max(recent, key=lambda one: one.number, default=None)
    shown = _releases().get(pk=recent[0].pk) if recent else None
    live = shown if shown and shown.state == ReleaseState.LIVE else None
    newest = shown if shown and newest and shown.pk == newest.pk else newest
    plan = readable_plan(shown) if shown else None
    replicas = tuple(shown.replicas.select_related("host")) if shown else ()
    roles = roles_in(user, row.team)
    may_operate = TeamRole.OPERATOR in roles
    drifted = any(replica.drift for replica in replicas)
    return DeploymentPage(
        row=row,
        live=live,
        newest=newest,
        plan=plan,
        replicas=replicas,
        endpoint=_endpoint(plan, replicas),
        may_operate=may_operate,
        administrates=TeamRole.ADMIN in roles,
        may_stop_at_once=bool(roles & MAY_STOP) and may_run((live, newest), replicas),
        revision=shown.plan.revision if shown else row.revisions.first(),
        repeats=repeats_of(shown, recent, drifted=drifted)
        if shown and may_operate
        else NOTHING_AGAIN,
    )


def release_history(row: Deployment) -> QuerySet[Release]:
    """Every release of a deployment, newest first."""
    return (
        _releases().filter(deployment=row).select_related("request").order_by("-number")
    )


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

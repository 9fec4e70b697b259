"""One team's rows of each kind that an address can name, for tests of every address."""

from collections.abc import Iterator
from typing import Any, Protocol

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from deployments.models import (
    Alarm,
    ApiToken,
    ApprovalRequest,
    AuditEntry,
    BenchmarkJob,
    BenchmarkPair,
    BenchmarkResult,
    Cluster,
    Delegation,
    DeliveryState,
    Deployment,
    Host,
    NoticeDelivery,
    Release,
    ReleaseState,
    RequestState,
    SavedView,
    TargetModel,
    Team,
    TeamRole,
    User,
    WizardDraft,
)
from deployments.selectors.tokens import hash_of
from deployments.views.manifest import MANIFEST
from tests.audit_rows import AuditEntryFactory
from tests.benchmark_pair_rows import BenchmarkPairFactory
from tests.benchmark_rows import BenchmarkJobFactory, BenchmarkResultFactory
from tests.delegation_rows import DelegationFactory
from tests.factories import (
    AlarmFactory,
    ClusterFactory,
    DeploymentFactory,
    ReplicaFactory,
    SavedViewFactory,
    TargetModelFactory,
    TeamFactory,
    member,
)
from tests.host_rows import model_directories
from tests.notice_rows import NoticeDeliveryFactory
from tests.plan_rows import released, request_for, stored
from tests.plan_values import plan_value
from tests.team_rows import (
    ApiTokenFactory,
    InvitationFactory,
    WizardDraftFactory,
)

FOREIGN_PACKAGES = ("account_", "mfa_", "openid_connect_", "socialaccount_")


class HasKey(Protocol):
    """A row that an address can name."""

    pk: Any


def patterns(resolver: URLResolver) -> Iterator[tuple[str, URLPattern]]:
    """Every named address below a resolver."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry.name or "", entry


ROUTES = dict(patterns(get_resolver()))
OWN_ROUTES = sorted(name for name in ROUTES if not name.startswith(FOREIGN_PACKAGES))
OBJECT_ROUTES = [name for name in OWN_ROUTES if "pk" in str(ROUTES[name].pattern)]
FRAGMENTS = {"healthz", "release-progress", "plan-preview", "service-discovery"}
DOWNLOADS = ("files", "download", "data", "lines", "csv", "file", "yaml")


def is_page(route: str) -> bool:
    """Whether an address shows a page of its own."""
    part = route.rpartition("-")[2]
    readable = "GET" in MANIFEST[route].methods
    return readable and route not in FRAGMENTS and part not in DOWNLOADS


class World:
    """One team's row of each kind that an address can name, and its people."""

    def __init__(self, name: str) -> None:
        self.team: Team = TeamFactory.create(name=name, slug=name)
        self.cluster: Cluster = ClusterFactory.create(team=self.team)
        self.deployment: Deployment = DeploymentFactory.create(
            cluster=self.cluster, name=f"{name}-canary"
        )
        value = plan_value(name=self.deployment.name, number=1)
        plan = stored(self.deployment, value)
        self.release: Release = released(plan, value, ReleaseState.LIVE)
        self.host: Host = self.cluster.hosts.get()
        model_directories(self.host, f"/data/models/{name}-canary")
        newer = plan_value(name=self.deployment.name, number=2)
        self.request: ApprovalRequest = request_for(
            stored(self.deployment, newer), RequestState.OPEN
        )
        self.model: TargetModel = TargetModelFactory.create(
            key=f"{name}/canary", team=self.team
        )
        self.benchmark: BenchmarkResult = BenchmarkResultFactory.create(
            team=self.team, name=f"{name}-canary"
        )
        self.measuring: BenchmarkJob = BenchmarkJobFactory.create(
            replica=self.release.replicas.first()
            or ReplicaFactory.create(release=self.release),
            cause=f"{name}-canary",
        )
        self.pair: BenchmarkPair = BenchmarkPairFactory.create(
            with_it=self.release,
            request=self.request,
            cause=f"{name}-canary",
        )
        self.alarm: Alarm = AlarmFactory.create(
            deployment=self.deployment, note=f"{name}-canary"
        )
        self.entry: AuditEntry = AuditEntryFactory.create(
            on=self.deployment, reason=f"{name}-canary"
        )
        self.token: ApiToken = ApiTokenFactory.create(name=f"{name}-canary")
        InvitationFactory.create(
            team=self.team,
            email=f"{name}-canary@example.org",
            token_hash=hash_of(link_of(self.team)),
            invited_by=member(self.team, f"{name}-host", TeamRole.ADMIN),
        )
        self.delivery: NoticeDelivery = NoticeDeliveryFactory.create(
            channel__team=self.team,
            channel__name=f"{name}-canary",
            state=DeliveryState.DEAD,
        )
        self.absence: Delegation = DelegationFactory.create(team=self.team)
        self.view: SavedView = SavedViewFactory.create(name=f"{name}-canary")
        self.draft: WizardDraft = WizardDraftFactory.create(model=f"{name}/canary")

    def row(self, route: str) -> HasKey:
        """The row that an address of this name shows or changes."""
        kinds: dict[str, HasKey] = {
            "deployment": self.deployment,
            "approval": self.request,
            "stored": self.request,
            "release": self.release,
            "host": self.host,
            "cluster": self.cluster,
            "catalog": self.model,
            "table": self.view,
            "plan": self.draft,
            "benchmark": self.benchmark,
            "measuring": self.measuring,
            "pair": self.pair,
            "alarm": self.alarm,
            "absence": self.absence,
            "channel": self.delivery.channel,
            "delivery": self.delivery,
            "audit": self.entry,
            "team": self.team,
            "settings": self.token,
        }
        return kinds[route.partition("-")[0]]

    def person(self, *roles: TeamRole) -> Client:
        """A browser of somebody with these roles in the team."""
        name = "-".join((self.team.slug, *roles)) or "nobody"
        return browser(member(self.team, name, *roles))


def browser(user: User) -> Client:
    """A browser in which the person is logged in."""
    client = Client()
    client.force_login(user)
    return client


def address(route: str, key: object = None) -> str:
    """The address of a route, for a row or for none; a chapter or a rule stands for all of them."""
    if "code" in str(ROUTES[route].pattern):
        return reverse(route, kwargs={"code": "SPEC_JSON_INVALID"})
    if "<str:token>" in str(ROUTES[route].pattern):
        return reverse(route, kwargs={"token": "of-nobody"})
    if "slug" in str(ROUTES[route].pattern):
        return reverse(route, kwargs={"slug": "why"})
    return reverse(route, kwargs={"pk": key} if key is not None else {})


def link_of(team: Team) -> str:
    """The token of the invitation to a team."""
    return f"invited-to-{team.slug}"


def own_address(route: str, world: World) -> str:
    """The address of a route for the world's own row, where the route names one."""
    if "<str:token>" in str(ROUTES[route].pattern):
        return reverse(route, kwargs={"token": link_of(world.team)})
    return address(route, world.row(route).pk if route in OBJECT_ROUTES else None)

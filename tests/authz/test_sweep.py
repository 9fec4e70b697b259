"""Every address, by everybody: the manifest is what really happens."""

import hashlib
import uuid
from collections.abc import Iterator
from typing import Any, Protocol

import pytest
from django.apps import apps
from django.core import serializers
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Deployment,
    Host,
    Release,
    ReleaseState,
    RequestState,
    TargetModel,
    Team,
    TeamRole,
    User,
)
from deployments.views.manifest import MANIFEST
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    TargetModelFactory,
    TeamFactory,
    member,
)
from tests.plan_rows import released, request_for, stored
from tests.plan_values import plan_value

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FOREIGN_PACKAGES = ("account_", "mfa_")


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
READABLE = [
    name for name in OWN_ROUTES if "GET" in MANIFEST[name].methods and name != "healthz"
]
CHANGING = [name for name in OBJECT_ROUTES if "POST" in MANIFEST[name].methods]
WITH_METHOD = [
    (name, method)
    for name in OBJECT_ROUTES
    for method in ("GET", "POST")
    if method in MANIFEST[name].methods
]
WITHOUT_ROLE = [
    (name, role)
    for name in CHANGING
    for role in TeamRole
    if MANIFEST[name].role not in {None, role}
]


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
        newer = plan_value(name=self.deployment.name, number=2)
        self.request: ApprovalRequest = request_for(
            stored(self.deployment, newer), RequestState.OPEN
        )
        self.model: TargetModel = TargetModelFactory.create(
            key=f"{name}/canary", team=self.team
        )

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
    """The address of a route, for a row or for none; a chapter stands for all chapters."""
    if "slug" in str(ROUTES[route].pattern):
        return reverse(route, kwargs={"slug": "why"})
    return reverse(route, kwargs={"pk": key} if key is not None else {})


def own_address(route: str, world: World) -> str:
    """The address of a route for the world's own row, where the route names one."""
    return address(route, world.row(route).pk if route in OBJECT_ROUTES else None)


def table_digest() -> str:
    """One digest over every row of the panel's own tables."""
    digest = hashlib.sha256()
    for model in apps.get_app_config("deployments").get_models():
        rows = model._default_manager.order_by("pk")
        digest.update(serializers.serialize("json", rows).encode())
    return digest.hexdigest()


@pytest.fixture
def own() -> World:
    """The team whose pages are tried."""
    return World("own")


@pytest.fixture
def foreign() -> World:
    """A team that the people of ``own`` know nothing of."""
    return World("foreign")


def test_every_address_is_in_the_manifest_and_every_entry_has_an_address() -> None:
    assert set(ROUTES) == set(MANIFEST)


@pytest.mark.parametrize("route", OWN_ROUTES)
def test_without_log_in_only_public_addresses_answer(route: str, own: World) -> None:
    answer = Client().get(own_address(route, own))
    if MANIFEST[route].public:
        assert answer.status_code in {200, 405}
    else:
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize(("route", "method"), WITH_METHOD)
def test_a_foreign_row_is_as_unknown_as_none(
    route: str, method: str, own: World, foreign: World
) -> None:
    client = own.person(*TeamRole)
    theirs = client.generic(method, address(route, foreign.row(route).pk))
    nothing = client.generic(method, address(route, uuid.uuid4()))
    assert theirs.status_code == nothing.status_code == 404
    assert b"foreign-canary" not in theirs.content


@pytest.mark.parametrize("route", OWN_ROUTES)
def test_other_methods_are_refused(route: str, own: World) -> None:
    client = own.person(*TeamRole)
    before = table_digest()
    for method in set(METHODS) - set(MANIFEST[route].methods):
        answer = client.generic(method, own_address(route, own))
        assert answer.status_code == 405, method
    assert table_digest() == before


@pytest.mark.parametrize("route", READABLE)
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_reading_changes_nothing(
    route: str, htmx: object, own: World, foreign: World
) -> None:
    client = own.person(*TeamRole)
    before = table_digest()
    answer = client.get(
        own_address(route, own), headers={"HX-Request": "true"} if htmx else {}
    )
    assert answer.status_code in {200, 204, 400, 422}
    assert table_digest() == before
    content = b"".join(answer) if answer.streaming else answer.content
    assert b"foreign-canary" not in content


@pytest.mark.parametrize(("route", "role"), WITHOUT_ROLE)
def test_a_change_needs_its_role_and_no_other_implies_it(
    route: str, role: TeamRole, own: World
) -> None:
    client = own.person(role)
    before = table_digest()
    answer = client.post(address(route, own.row(route).pk), {})
    assert answer.status_code == 403
    assert table_digest() == before


@pytest.mark.parametrize("route", CHANGING)
def test_a_change_without_a_token_is_refused(route: str, own: World) -> None:
    user = member(own.team, "careless", *TeamRole)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    before = table_digest()
    answer = client.post(address(route, own.row(route).pk), {})
    assert answer.status_code == 403
    assert table_digest() == before

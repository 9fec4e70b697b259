"""Every address, by everybody: the manifest is what really happens."""

import hashlib
import uuid

import pytest
from django.apps import apps
from django.core import serializers
from django.test import Client
from django.urls import reverse

from deployments.models import TeamRole
from deployments.views.manifest import MANIFEST
from tests.factories import member
from tests.world import (
    OBJECT_ROUTES,
    OWN_ROUTES,
    ROUTES,
    World,
    address,
    own_address,
)

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
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
        # 401: it takes a key instead of a session.
        assert answer.status_code in {200, 401, 405}
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

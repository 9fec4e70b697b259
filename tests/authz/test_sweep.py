"""Every address, by everybody: the manifest is what really happens."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.core import serializers
from django.db import connection
from django.test import Client
from django.urls import reverse

from deployments.models import ApiToken, Host, TeamRole
from deployments.models.scope import ScopedQuerySet
from deployments.views.manifest import MANIFEST
from panel import tokens
from tests.authz.sweep import EVERY_ROLE, violations
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

READABLE = [
    name for name in OWN_ROUTES if "GET" in MANIFEST[name].methods and name != "healthz"
]
CHANGING = [name for name in OBJECT_ROUTES if "POST" in MANIFEST[name].methods]
FOR_USER = ScopedQuerySet.for_user
READ_WELL = {200, 204, 400, 422}


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


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep is a flood of requests."""
    monkeypatch.setattr(tokens, "MOST_USES", 100_000)
    monkeypatch.setattr(tokens, "MOST_FAILURES", 100_000)


def test_every_address_is_in_the_manifest_and_every_entry_has_an_address() -> None:
    assert set(ROUTES) == set(MANIFEST)


def test_everybody_gets_what_the_manifest_says_and_nobody_more(
    own: World, foreign: World
) -> None:
    assert list(violations(own, foreign)) == []


def everything(*_asked: Any, **_more: Any) -> bool:
    """A predicate that lets everybody pass."""
    return True


def nothing(*_asked: Any, **_more: Any) -> bool:
    """A predicate that lets nobody pass."""
    return False


def every_role(*_asked: Any) -> frozenset[TeamRole]:
    """Whoever it is holds them all."""
    return frozenset(TeamRole)


def every_guest_row(rows: ScopedQuerySet[Any], _user: Any) -> ScopedQuerySet[Any]:
    """Whoever it is is everybody's guest."""
    return rows.all()


def every_host(rows: ScopedQuerySet[Any], user: Any) -> ScopedQuerySet[Any]:
    """Whoever it is belongs where hosts stand."""
    return rows.all() if rows.model is Host else FOR_USER(rows, user)


def every_row(rows: ScopedQuerySet[Any], _user: Any) -> ScopedQuerySet[Any]:
    """Whoever it is sees them all."""
    return rows.all()


WRONG: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "roles": ("own", "deployments.selectors.access.roles_in", every_role),
    "rows": (EVERY_ROLE, "deployments.models.scope.ScopedQuerySet.for_user", every_row),
    "guests": (
        EVERY_ROLE,
        "deployments.models.scope.ScopedQuerySet.for_user_or_guest",
        every_guest_row,
    ),
    "guests as members": (
        "guest",
        "deployments.models.scope.ScopedQuerySet.for_user",
        every_host,
    ),
    "scopes": ("robot", "panel.tokens.covers", everything),
    "no scopes": ("robot", "panel.tokens.covers", nothing),
    "keys": ("revoked", "panel.tokens.token_of", lambda _key: ApiToken.objects.first()),
}
"""Whom it would let in, or out, and the predicate."""


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_predicate_shows(
    name: str, own: World, foreign: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, predicate, wrong = WRONG[name]
    monkeypatch.setattr(predicate, wrong)
    assert next(violations(own, foreign, who), None) is not None


def _refuse_changes(
    execute: Callable[..., Any], sql: str, params: Any, many: Any, context: Any
) -> Any:
    """Let statements through that leave the panel's own tables as they are."""
    changes = sql.startswith(("INSERT", "UPDATE", "DELETE"))
    assert not (changes and '"deployments_' in sql), sql
    return execute(sql, params, many, context)


def test_without_log_in_only_public_addresses_answer(own: World) -> None:
    for route in OWN_ROUTES:
        answer = Client().get(own_address(route, own))
        if MANIFEST[route].public:
            # 401: it takes a key instead of a session.
            assert answer.status_code in {200, 401, 405}, route
        else:
            assert answer.status_code == 302, route
            assert answer.headers["Location"].startswith(reverse("account_login"))


def test_reading_changes_nothing(own: World, foreign: World) -> None:
    client = own.person(*TeamRole)
    before = table_digest()
    with connection.execute_wrapper(_refuse_changes):
        for route in READABLE:
            for headers in ({}, {"HX-Request": "true"}):
                answer = client.get(own_address(route, own), headers=headers)
                assert answer.status_code in READ_WELL, route
                content = b"".join(answer) if answer.streaming else answer.content
                assert b"foreign-canary" not in content, route
    assert table_digest() == before


def test_a_change_without_a_token_is_refused(own: World) -> None:
    user = member(own.team, "careless", *TeamRole)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    before = table_digest()
    for route in CHANGING:
        answer = client.post(address(route, own.row(route).pk), {})
        assert answer.status_code == 403, route
    assert table_digest() == before

"""Every address, with every method, by everybody; what the manifest says is what has to happen.

``violations`` is a generator, so that a check that one wrong predicate shows may stop at the first.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone

from deployments.models import (
    ApiToken,
    ShareAccess,
    TeamRole,
    TokenScope,
    User,
)
from deployments.selectors.tokens import COVERED
from deployments.services.tokens import create_token
from deployments.views.manifest import MANIFEST, Permission
from tests.factories import member
from tests.team_rows import ClusterShareFactory
from tests.world import OBJECT_ROUTES, OWN_ROUTES, World, address, browser, own_address

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
EVERY_ROLE = "own with every role"
"""Whoever may most in the team: what is closed to them is closed to all of it."""
CANARY = b"foreign-canary"
REFUSALS = {
    HTTPStatus.FOUND,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Somebody:
    """A browser or a program, and what it is to the team whose addresses are tried."""

    name: str
    client: Client
    role: TeamRole | None = None
    scope: TokenScope | None = None
    inside: bool = False
    known: bool = True
    guest: bool = False


def everybody(own: World) -> list[Somebody]:
    """Programs with bad and good keys, one for each role, and those from outside."""
    people = list(programs(own))
    people += [
        Somebody(name=f"own {role}", client=own.person(role), role=role, inside=True)
        for role in TeamRole
    ]
    people += guests(own)
    removed = member(own.team, "removed", *TeamRole)
    disabled = member(own.team, "disabled", *TeamRole)
    people += [
        Somebody(name=EVERY_ROLE, client=own.person(*TeamRole), inside=True),
        Somebody(name="removed", client=browser(removed)),
        Somebody(name="disabled", client=browser(disabled), known=False),
        Somebody(name="anonymous", client=Client(), known=False),
    ]
    removed.memberships.all().delete()
    User.objects.filter(pk=disabled.pk).update(is_active=False)
    return people


def guests(own: World) -> Iterator[Somebody]:
    """People who may everything in a team that the cluster is shared with, for either access."""
    for access in ShareAccess:
        share = ClusterShareFactory.create(cluster=own.cluster, access=access)
        guest = member(share.team, f"guest-{access}", *TeamRole)
        yield Somebody(name=f"guest {access}", client=browser(guest), guest=True)


def programs(own: World) -> Iterator[Somebody]:
    """Keys of somebody with every role: expired, revoked, and of each scope."""
    owner = member(own.team, "owner", *TeamRole)
    past = timezone.now() - timedelta(days=1)
    for name, change in {
        "expired": {"created_at": past - timedelta(days=1), "expires_at": past},
        "revoked": {"revoked_at": past},
    }.items():
        client = program(owner, TokenScope.OPERATE)
        made = ApiToken.objects.filter(owner=owner).latest("created_at")
        ApiToken.objects.filter(pk=made.pk).update(**change)
        yield Somebody(name=f"{name} key", client=client, known=False)
    for scope in TokenScope:
        client = program(owner, scope)
        yield Somebody(name=f"robot {scope}", client=client, scope=scope, inside=True)


def program(owner: User, scope: TokenScope) -> Client:
    """A program with a key of this scope; forms ask it for their token as they ask a browser."""
    key = create_token(owner, "robot", scope, days=1).key
    return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {key}"})


def violations(own: World, foreign: World, who: str = "") -> Iterator[str]:
    """What happened otherwise than the manifest says to those so called, one sentence each."""
    for somebody in everybody(own):
        for route in OWN_ROUTES if somebody.name.startswith(who) else ():
            for method in METHODS:
                if route != "healthz":
                    yield from _one(own, foreign, route, method, somebody)


def _one(
    own: World, foreign: World, route: str, method: str, somebody: Somebody
) -> Iterator[str]:
    permission = MANIFEST[route]
    case = f"{somebody.name}: {method} {route}"
    if method not in permission.methods:
        # Who may nothing at all is turned away before, and programs by the scope of their key.
        if somebody.name == EVERY_ROLE:
            said = ask(somebody, method, own_address(route, own))
            yield from _unless(said, {HTTPStatus.METHOD_NOT_ALLOWED}, case)
        return
    if method == "HEAD":
        return
    wanted = _wanted(permission, method, somebody, is_object=route in OBJECT_ROUTES)
    if wanted is not None:
        said = ask(somebody, method, own_address(route, own))
        yield from _unless(said, wanted, case)
        if somebody.guest and f"{own.team.slug}-canary".encode() in _body(said):
            yield f"{case}: tells a guest what is not shared"
    if route in OBJECT_ROUTES and somebody.name == EVERY_ROLE:
        theirs = ask(somebody, method, address(route, foreign.row(route).pk))
        nothing = ask(somebody, method, address(route, uuid.uuid4()))
        unknown = {HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN}
        yield from _unless(theirs, unknown, f"{case} (foreign)")
        if theirs.status_code != nothing.status_code or CANARY in _body(theirs):
            yield f"{case}: a foreign row is not as unknown as none"


def _wanted(
    permission: Permission, method: str, somebody: Somebody, *, is_object: bool
) -> set[Any] | None:
    """The statuses that may come; ``None`` where the page itself decides, which its own tests prove."""
    if not somebody.known:
        if somebody.name.endswith("key"):
            return {HTTPStatus.UNAUTHORIZED}
        return None if permission.public else {HTTPStatus.FOUND}
    if somebody.scope is not None:
        return _wanted_by_key(permission, method, somebody.scope)
    if somebody.guest and is_object and permission.shared:
        return {HTTPStatus.OK if method == "GET" else HTTPStatus.FORBIDDEN}
    if not is_object or somebody.inside:
        other = {None, somebody.role}
        refused = is_object and method == "POST" and somebody.role is not None
        refused = refused and permission.role not in other
        return {HTTPStatus.FORBIDDEN} if refused else None
    return {HTTPStatus.NOT_FOUND}


def _wanted_by_key(permission: Permission, method: str, scope: TokenScope) -> set[Any]:
    if permission.token is None or permission.token not in COVERED[scope]:
        return {HTTPStatus.FORBIDDEN}
    done = {HTTPStatus.FOUND} if method == "POST" else set()
    return set(HTTPStatus) - REFUSALS | done


def ask(somebody: Somebody, method: str, path: str) -> Any:
    """Send the request, and undo what it did."""
    with transaction.atomic():
        answer = somebody.client.generic(method, path)
        transaction.set_rollback(True)
    return answer


def _unless(said: HttpResponseBase, wanted: set[Any], case: str) -> Iterator[str]:
    if said.status_code not in wanted:
        yield f"{case}: {said.status_code}"
    elif said.status_code in REFUSALS and CANARY in _body(said):
        yield f"{case}: tells of a foreign row"


def _body(answer: HttpResponseBase) -> bytes:
    return b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]

"""Programs come with a key in ``Authorization: Bearer``; a wrong one never falls back to a session."""

import time
from collections.abc import Callable
from http import HTTPStatus

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from deployments.models import ApiToken
from deployments.selectors.tokens import PREFIX, covers, token_of
from deployments.services.tokens import note_use
from deployments.views.manifest import MANIFEST
from panel.middleware import Args, Kwargs, View, address_of

__all__ = ["TokenMiddleware"]

BEARER = "bearer "
OWN_KEYS = {"service-discovery"}
"""Addresses that also take keys of another kind, and look at those themselves."""
LONGEST_KEY = 200
MOST_USES = 120
MOST_FAILURES = 20
WINDOW_S = 60
REFUSED = "The key is unknown, expired or revoked. Make another one in Settings."
TOO_MANY = "Too many requests: wait a minute."
OUT_OF_SCOPE = "Keys of this scope do not open this address."


class TokenRequest(HttpRequest):
    """A request that came with a key."""

    bearer: bool
    token: ApiToken | None


class TokenMiddleware:
    """Puts the owner of a key in the place of the session's person, where the manifest allows it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: TokenRequest) -> HttpResponseBase:
        """Recognise the key; whoever sends one is nobody until it is recognised."""
        header = request.headers.get("Authorization", "")
        request.bearer, request.token = header.lower().startswith(BEARER), None
        if not request.bearer:
            return self.get_response(request)
        request.user = AnonymousUser()
        key = header[len(BEARER) :].strip()[:LONGEST_KEY]
        if key.startswith(PREFIX):
            refusal = self._recognise(request, key)
            if refusal is not None:
                return refusal
        return self.get_response(request)

    def _recognise(self, request: TokenRequest, key: str) -> JsonResponse | None:
        token = token_of(key)
        if token is None:
            if _too_many(f"failed:{address_of(request)}", MOST_FAILURES):
                return _refuse(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY)
            return _refuse(HTTPStatus.UNAUTHORIZED, REFUSED)
        if _too_many(str(token.pk), MOST_USES):
            return _refuse(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY)
        note_use(token)
        request.token, request.user = token, token.owner
        # No browser sends this header by itself, so no foreign page can make one do it.
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined] # noqa: SLF001
        return None

    def process_view(
        self, request: TokenRequest, _view: View, _args: Args, _kwargs: Kwargs
    ) -> JsonResponse | None:
        """Refuse what no key of this scope opens."""
        match = request.resolver_match
        name = match.view_name if match else ""
        if not request.bearer:
            return None
        if request.token is None:
            # An address that takes other keys answers for itself.
            return (
                None if name in OWN_KEYS else _refuse(HTTPStatus.UNAUTHORIZED, REFUSED)
            )
        permission = MANIFEST.get(name)
        if permission is None or not covers(request.token, permission.token):
            return _refuse(HTTPStatus.FORBIDDEN, OUT_OF_SCOPE)
        return None


def _too_many(what: str, most: int) -> bool:
    """Count one more in this minute."""
    key = f"token:{what}:{int(time.time()) // WINDOW_S}"
    cache.add(key, 0, 2 * WINDOW_S)
    try:
        return cache.incr(key) > most
    except ValueError:  # the cache let go of it meanwhile
        return False


def _refuse(status: HTTPStatus, said: str) -> JsonResponse:
    answer = JsonResponse({"error": said}, status=status)
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        answer.headers["Retry-After"] = str(WINDOW_S)
    answer.headers["Cache-Control"] = "no-store"
    return answer

"""Keys of programs: how one is recognised, and which a person has."""

import hashlib

from django.db.models import QuerySet
from django.db.models.functions import Now

from deployments.models import ApiToken, Team, TokenScope, User

PREFIX = "draftboard_"
"""Tells a key of the panel from other words, for people and for programs that look for leaks."""
COVERED = {
    TokenScope.READ: frozenset({TokenScope.READ}),
    TokenScope.REQUEST: frozenset({TokenScope.READ, TokenScope.REQUEST}),
    TokenScope.DEPLOY: frozenset({TokenScope.READ, TokenScope.DEPLOY}),
    TokenScope.OPERATE: frozenset(TokenScope),
}


def hash_of(secret: str) -> str:
    """The SHA-256 that is kept of a random secret of 256 bits, which needs no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


def token_of(key: str) -> ApiToken | None:
    """The token of a key: not expired, not revoked, its owner in; ``None`` for any other text."""
    if not key.startswith(PREFIX):
        return None
    return (
        ApiToken.objects.filter(
            key_hash=hash_of(key),
            expires_at__gt=Now(),
            revoked_at=None,
            owner__is_active=True,
        )
        .select_related("owner")
        .first()
    )


def covers(token: ApiToken, scope: TokenScope | None) -> bool:
    """Whether a token may be used where this scope is needed; ``None`` is open to no token."""
    return scope is not None and scope in COVERED[TokenScope(token.scope)]


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The person's tokens that can be used, newest first."""
    return ApiToken.objects.filter(owner=user, revoked_at=None, expires_at__gt=Now())


def tokens_in(team: Team) -> QuerySet[ApiToken]:
    """The tokens of the team's members that can be used, by owner and name."""
    return (
        ApiToken.objects.filter(
            owner__memberships__team=team, revoked_at=None, expires_at__gt=Now()
        )
        .select_related("owner")
        .order_by("owner__username", "name", "pk")
    )

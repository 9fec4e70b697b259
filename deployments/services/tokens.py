"""Make, use and revoke keys by which programs act in the name of a person."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import ApiToken, AuditAction, Team, TokenScope, User
from deployments.selectors.tokens import PREFIX, hash_of, tokens_in, tokens_of
from deployments.services.audit import record
from deployments.services.errors import ConflictError
from deployments.services.members import person_in, require_manager

KEY_BYTES = 32
LONGEST_DAYS = 365
MOST_TOKENS = 20
SEEN_AGAIN = timedelta(minutes=1)
"""``last_used_at`` is written at most so often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token and its key, which is shown this once."""

    row: ApiToken
    key: str


def create_token(
    user: User, name: str, scope: TokenScope, *, days: int, is_robot: bool = True
) -> NewToken:
    """Make a key of the person's own for so many days.

    Raises:
        ConflictError: the person has as many as one may have, or the days are out of range.
    """
    if not 1 <= days <= LONGEST_DAYS:
        raise ConflictError(_("A token lasts between one day and a year."))
    key = PREFIX + secrets.token_urlsafe(KEY_BYTES)
    with transaction.atomic():
        # One row of the person, so that two forms at once cannot pass the limit.
        User.objects.select_for_update().get(pk=user.pk)
        if tokens_of(user).count() >= MOST_TOKENS:
            raise ConflictError(
                _("You have %(most)s tokens. Revoke one first.") % {"most": MOST_TOKENS}
            )
        row = ApiToken.objects.create(
            owner=user,
            name=name,
            scope=scope,
            is_robot=is_robot,
            key_hash=hash_of(key),
            hint=key[-4:],
            expires_at=timezone.now() + timedelta(days=days),
        )
        told = {
            "token": name,
            "scope": scope,
            "robot": is_robot,
            "expires_at": row.expires_at,
        }
        record(AuditAction.TOKEN_ADDED, user, user, after=told)
    return NewToken(row=row, key=key)


def revoke_token(user: User, pk: uuid.UUID) -> ApiToken | None:
    """End one of the person's tokens at once; ``None`` if they have no such token."""
    with transaction.atomic():
        row = tokens_of(user).filter(pk=pk).first()
        if row is None:
            return None
        ApiToken.objects.filter(pk=pk).update(revoked_at=Now())
        record(AuditAction.TOKEN_REVOKED, user, user, before={"token": row.name})
    return row


def revoke_in_team(user: User, team: Team, pk: uuid.UUID) -> ApiToken | None:
    """End a token of a member, wherever it is used; ``None`` if no member has such a token.

    Raises:
        NotAllowedError: the person does not manage the team.
    """
    require_manager(user, team)
    with transaction.atomic():
        row = tokens_in(team).filter(pk=pk).first()
        if row is None:
            return None
        ApiToken.objects.filter(pk=pk).update(revoked_at=Now())
        on, told = person_in(team, row.owner), {"token": row.name}
        record(AuditAction.TOKEN_REVOKED, user, on, before=told)
    return row


def note_use(token: ApiToken) -> None:
    """Keep that the token was used just now."""
    old = Q(last_used_at=None) | Q(last_used_at__lt=Now() - SEEN_AGAIN)
    ApiToken.objects.filter(old, pk=token.pk).update(last_used_at=Now())

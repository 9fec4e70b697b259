"""Disable the account of somebody who must not get in any more, and let them in again."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import ApiToken, AuditAction, Membership, TeamRole, User
from deployments.selectors.accounts import administers
from deployments.selectors.members import platform_admins
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.members import ask_anew
from deployments.services.sessions import forget_sessions


def disable_account(user: User, somebody: User, *, reason: str = "") -> None:
    """Close an account at once: its sessions and tokens end, its votes count no more.

    What the person wrote and decided stays under their name. Approved requests that no longer have
    enough votes are asked for again. The account keeps its roles for when it is let in again.

    Raises:
        NotAllowedError: the person administers no panel, or it is their own account.
        ConflictError: nobody would be left who administers the panel.
    """
    with transaction.atomic():
        row = _in_turn(user, somebody)
        if not row.is_active:
            return
        if row.is_superuser and not platform_admins().exclude(pk=row.pk).exists():
            raise ConflictError(
                _("The panel needs an admin: make somebody else one first.")
            )
        User.objects.filter(pk=row.pk).update(is_active=False)
        sessions = forget_sessions(row)
        tokens = ApiToken.objects.filter(owner=row, revoked_at=None)
        revoked = tokens.update(revoked_at=Now())
        for one in Membership.objects.filter(
            user=row, grants__role=TeamRole.APPROVER
        ).select_related("team"):
            ask_anew(one.team, row)
        record(
            AuditAction.ACCOUNT_DISABLED,
            user,
            row,
            before={"active": True},
            after={
                "active": False,
                "sessions_ended": sessions,
                "tokens_revoked": revoked,
            },
            reason=reason,
        )


def enable_account(user: User, somebody: User) -> None:
    """Let somebody in again, with the roles and the password they had; tokens stay revoked.

    Raises:
        NotAllowedError: the person administers no panel, or it is their own account.
    """
    with transaction.atomic():
        row = _in_turn(user, somebody)
        if row.is_active:
            return
        User.objects.filter(pk=row.pk).update(is_active=True)
        record(
            AuditAction.ACCOUNT_ENABLED,
            user,
            row,
            before={"active": False},
            after={"active": True},
        )


def _in_turn(user: User, somebody: User) -> User:
    """The account, while nobody else changes who administers: two admins must not end each other."""
    admins = {one.pk: one for one in platform_admins().select_for_update()}
    if not administers(admins.get(user.pk, User(is_active=False))):
        raise NotAllowedError(_("This needs an admin of the panel."))
    if user.pk == somebody.pk:
        raise NotAllowedError(
            _("Nobody closes or opens their own account: ask another admin.")
        )
    return User.objects.select_for_update().get(pk=somebody.pk)

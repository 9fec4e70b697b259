"""Log-ins, log-outs and changes of how people log in, as the library of accounts tells of them."""

from collections.abc import Mapping
from datetime import timedelta

from allauth.account import signals as account
from allauth.mfa import signals as second_factor
from django.contrib.auth.signals import user_login_failed
from django.db.models import Q
from django.db.models.functions import Now
from django.dispatch import Signal

from deployments.models import AuditAction, AuditEntry, AuditKind, User
from deployments.services.audit import record
from deployments.services.audit_subjects import Subject, subject_of

UNKNOWN = "unknown name"
QUIET = timedelta(minutes=5)
"""A lock-out is told once in so long, or whoever causes it could fill the table."""
ACTS: tuple[tuple[Signal, AuditAction], ...] = (
    (account.user_logged_in, AuditAction.LOGGED_IN),
    (account.user_logged_out, AuditAction.LOGGED_OUT),
    (account.password_changed, AuditAction.PASSWORD_CHANGED),
    (account.password_set, AuditAction.PASSWORD_CHANGED),
    (second_factor.authenticator_added, AuditAction.FACTOR_ADDED),
    (second_factor.authenticator_removed, AuditAction.FACTOR_REMOVED),
    (second_factor.authenticator_reset, AuditAction.FACTOR_RENEWED),
    (second_factor.authentication_failed, AuditAction.CODE_FAILED),
)


def listen() -> None:
    """Write an entry whenever one of these happens; called once, when the panel starts."""
    for signal, action in ACTS:
        signal.connect(
            _Writer(action),
            weak=False,
            dispatch_uid=f"audit {action.value} {id(signal)}",
        )
    user_login_failed.connect(
        _log_in_failed, weak=False, dispatch_uid="audit log-in failed"
    )


def lock_out(credentials: Mapping[str, object]) -> None:
    """Say that log-ins of this name are refused for a while after too many that failed."""
    tried = _tried(credentials)
    told = AuditEntry.objects.filter(
        action=AuditAction.LOCKED_OUT, object_name=tried.name, at__gt=Now() - QUIET
    )
    if not told.exists():
        record(AuditAction.LOCKED_OUT, None, tried)


class _Writer:
    """What a signal calls; the library names the person, and the second factor where it is one."""

    def __init__(self, action: AuditAction) -> None:
        self.action = action

    def __call__(self, **told: object) -> None:
        user = told.get("user")
        if not isinstance(user, User):
            return
        if self.action == AuditAction.PASSWORD_CHANGED:
            User.objects.filter(pk=user.pk).update(must_change_password=False)
        factor = getattr(told.get("authenticator"), "type", "")
        record(self.action, user, user, after={"factor": str(factor)} if factor else {})


def _log_in_failed(**told: object) -> None:
    credentials = told.get("credentials")
    if isinstance(credentials, Mapping):
        record(AuditAction.LOG_IN_FAILED, None, _tried(credentials))


def _tried(credentials: Mapping[str, object]) -> Subject:
    """The person whose name was tried; a name that nobody has may be a password, and is not kept."""
    names = [str(credentials.get(key) or "") for key in ("username", "email")]
    fits = Q()
    for name in filter(None, names):
        fits |= Q(username__iexact=name) | Q(email__iexact=name)
    known = User.objects.filter(fits).first() if fits else None
    if known is None:
        return Subject(kind=AuditKind.PERSON, id="", name=UNKNOWN)
    return subject_of(known)

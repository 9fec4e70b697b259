"""End sessions of a person, wherever they are open."""

from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet

from deployments.models import AuditAction, User
from deployments.services.audit import record
from deployments.services.audit_origin import agent_family


def end_session(user: User, pk: int) -> bool:
    """End one session of the person at once; false if they have no such session."""
    return _end(user, UserSession.objects.filter(user=user, pk=pk)) == 1


def end_other_sessions(user: User, current_key: str | None) -> int:
    """End every session of the person but this one; returns how many."""
    return _end(
        user, UserSession.objects.filter(user=user).exclude(session_key=current_key)
    )


def forget_sessions(somebody: User) -> int:
    """End every session of an account that is closed; returns how many. The caller writes the entry."""
    rows = UserSession.objects.filter(user=somebody)
    keys = list(rows.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    rows.delete()
    return len(keys)


def _end(user: User, rows: QuerySet[Any]) -> int:
    with transaction.atomic():
        ended = list(rows)
        Session.objects.filter(
            session_key__in=[row.session_key for row in ended]
        ).delete()
        UserSession.objects.filter(pk__in=[row.pk for row in ended]).delete()
        for row in ended:
            told = {"agent": agent_family(row.user_agent), "address": row.ip}
            record(AuditAction.SESSION_ENDED, user, user, before=told)
    return len(ended)

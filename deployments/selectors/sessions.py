"""The sessions in which a person is logged in."""

from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from deployments.models import User


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session; ``agent`` is what the browser says of itself, ``current`` this very one."""

    id: int
    agent: str
    address: str
    began_at: datetime
    seen_at: datetime
    current: bool


def sessions_of(user: User, current_key: str | None) -> list[SessionRow]:
    """Sessions that have not ended, this one first, then the last seen first; two queries."""
    rows = list(UserSession.objects.filter(user=user).order_by("-last_seen_at"))
    live = set(
        Session.objects.filter(
            session_key__in=[row.session_key for row in rows], expire_date__gt=Now()
        ).values_list("session_key", flat=True)
    )
    found = [
        SessionRow(
            id=row.pk,
            agent=row.user_agent,
            address=row.ip,
            began_at=row.created_at,
            seen_at=row.last_seen_at,
            current=row.session_key == current_key,
        )
        for row in rows
        if row.session_key in live
    ]
    return sorted(found, key=lambda row: not row.current)

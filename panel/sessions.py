"""Keep when each session was last seen, and from where."""

import time

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from panel.middleware import GetResponse, address_of

__all__ = ["SEEN_AT", "SessionSeenMiddleware"]

SEEN_AT = "seen_at"
SEEN_AGAIN_S = 300
"""A session that was seen is not written down again for so long."""


class SessionSeenMiddleware:
    """Writes at most every five minutes of a session; only log-in begins one."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Note the moment before the page is made, so that its own list is right."""
        seen = request.session.get(SEEN_AT)
        now = int(time.time())
        if isinstance(seen, int) and now - seen >= SEEN_AGAIN_S:
            request.session[SEEN_AT] = now
            longest = UserSession._meta.get_field("user_agent").max_length
            UserSession.objects.filter(session_key=request.session.session_key).update(
                last_seen_at=timezone.now(),
                ip=address_of(request),
                user_agent=get_adapter().get_http_user_agent(request)[:longest],
            )
        return self.get_response(request)

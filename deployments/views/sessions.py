"""Where a person is logged in, and ending that."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from deployments.selectors.sessions import sessions_of
from deployments.services.audit_origin import agent_family
from deployments.services.sessions import end_other_sessions, end_session
from deployments.views.people import person

MOST_DIGITS = 18


@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    """Every session with its device, address and when it was last seen."""
    rows = [
        {"row": row, "family": agent_family(row.agent)}
        for row in sessions_of(person(request), request.session.session_key)
    ]
    return render(request, "settings/sessions.html", {"rows": rows})


@require_POST
def end(request: HttpRequest) -> HttpResponse:
    """End one session by its number, or without one all others.

    Raises:
        Http404: the person has no such session.
    """
    user, number = person(request), request.POST.get("session", "")
    if not number:
        count = end_other_sessions(user, request.session.session_key)
        said = ngettext(
            "%(count)s other session has ended.",
            "%(count)s other sessions have ended.",
            count,
        )
        messages.success(request, said % {"count": count})
        return redirect("settings-sessions")
    known = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
    if not known or not end_session(user, int(number)):
        raise Http404
    messages.success(request, _("The session has ended."))
    return redirect("settings-sessions")

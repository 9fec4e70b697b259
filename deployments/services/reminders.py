"""Remind of requests of which half, or nine tenths, of the time is over; each once."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    NoticeKind,
    RequestReminder,
    RequestState,
)
from deployments.planning.text import text
from deployments.services.notices.announcing import tell_of_request

SHARES = (90, 50)
"""Percent of the time that is over, the most urgent first."""
SAID = {
    RequestState.OPEN: text(
        "Revision {revision} of {name} on {cluster} waits for a decision; {percent} % of its time is over."
    ),
    RequestState.APPROVED: text(
        "Revision {revision} of {name} on {cluster} is approved and has not started; {percent} % of its time is over."
    ),
}


def remind_due() -> int:
    """Tell of every request that passed a share since the last round; returns how many.

    After a pause of the panel only the most urgent share of a request is told.
    """
    now = timezone.now()
    live = ApprovalRequest.objects.filter(
        state__in=list(SAID), expires_at__gt=now
    ).select_related(
        "plan__revision__deployment__cluster", "plan__revision__deployment__team"
    )
    return sum(_remind(request, now) for request in live.defer("plan__document"))


def _remind(request: ApprovalRequest, now: datetime) -> bool:
    began = request.created_at
    if request.state == RequestState.APPROVED and request.decided_at is not None:
        began = request.decided_at
    whole = (request.expires_at - began).total_seconds()
    over = 100 * (now - began).total_seconds() / whole if whole > 0 else 100
    passed = [share for share in SHARES if over >= share]
    if not passed:
        return False
    with transaction.atomic():
        # Whoever decides or withdraws at this moment goes first, or waits.
        row = ApprovalRequest.objects.select_for_update().get(pk=request.pk)
        if row.state != request.state:
            return False
        new = [
            share
            for share in passed
            if RequestReminder.objects.get_or_create(
                request=request, state=request.state, percent=share
            )[1]
        ]
        if passed[0] not in new:
            return False
        said = SAID[RequestState(request.state)].filled({"percent": passed[0]})
        tell_of_request(NoticeKind.REMINDER, request, said)
    return True

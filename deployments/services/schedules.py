"""When approved requests start: asked for by an operator, by themselves, and never late."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.text import text
from deployments.selectors.freezes import database_now
from deployments.selectors.start_times import (
    start_times,
    wait_minutes_now,
)
from deployments.selectors.votes import team_of
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError

SHORTEST = timedelta(minutes=5)
LONGEST = timedelta(days=7)


class NotYetError(ConflictError):
    """The request is approved, and its time has not come."""

    code = "not_yet"


class TooLateError(ConflictError):
    """The time that was asked for is over, so the request never starts."""

    code = "too_late"


def plan_start(
    user: User,
    request: ApprovalRequest,
    window: tuple[datetime, datetime] | None,
    *,
    by_itself: bool,
    zone: str,
) -> None:
    """Say when the request may start, and whether it does so by itself; before anybody votes.

    ``window`` is the first moment and the one that is too late; ``None`` is at any time.

    Raises:
        NotAllowedError: the person is not the one who asked, or no operator any more.
        ConflictError: somebody voted, the request ended, or the window is over, too short or long,
            or begins after an approval would have run out.
    """
    require_role(user, team_of(request), TeamRole.OPERATOR)
    if user.pk != request.submitted_by_id:
        raise NotAllowedError(
            _("Only the person who submitted a plan says when it may start.")
        )
    start_from, start_until = window or (None, None)
    with transaction.atomic():
        row = ApprovalRequest.objects.select_for_update().get(pk=request.pk)
        now = database_now()
        if row.state != RequestState.OPEN or row.expires_at <= now:
            raise ConflictError(_("This request is no longer open."))
        if row.approvals.exists():
            raise ConflictError(
                _("Somebody has voted on it as it is. Withdraw it and submit it again.")
            )
        if window is not None:
            _prove_window(row, window, now)
        before = _told(row)
        row.starts_itself = by_itself
        row.start_from, row.start_until = start_from, start_until
        row.start_zone = zone if window else ""
        row.save(
            update_fields=["starts_itself", "start_from", "start_until", "start_zone"]
        )
        record(
            AuditAction.START_PLANNED, user, request, before=before, after=_told(row)
        )
    request.refresh_from_db()


def _told(row: ApprovalRequest) -> dict[str, object]:
    return {
        "starts_itself": row.starts_itself,
        "start_from": row.start_from.isoformat() if row.start_from else None,
        "start_until": row.start_until.isoformat() if row.start_until else None,
    }


def _prove_window(
    row: ApprovalRequest, window: tuple[datetime, datetime], now: datetime
) -> None:
    start_from, start_until = window
    if start_until <= now:
        raise ConflictError(_("This time is over already. Choose a later one."))
    if not SHORTEST <= start_until - start_from <= LONGEST:
        raise ConflictError(
            _("Leave it between five minutes and seven days to start in.")
        )
    if start_from >= now + timedelta(hours=row.approved_hours):
        raise ConflictError(
            _(
                "An approval lasts %(hours)s hours here, and would have run out by then. Choose an earlier time."
            )
            % {"hours": row.approved_hours}
        )


def check_start_time(request: ApprovalRequest) -> None:
    """Prove by the database's clock that the time of a request has come and is not over.

    Once it was live, its plan may be restored at any time.

    Raises:
        NotYetError: it has to wait.
        TooLateError: its time is over.
    """
    if request.releases.filter(live_at__isnull=False).exists():
        return
    now = database_now()
    times = start_times(request, wait_minutes_now(request))
    if times.missed(now):
        raise TooLateError(
            text(
                "The time to start was over at {until}: ask for approval again.",
                until=_utc(times.start_until),
            )
        )
    early = times.early(now)
    if early is not None:
        raise NotYetError(text("It may not start before {moment}.", moment=_utc(early)))


def _utc(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""

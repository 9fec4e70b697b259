"""Make and end freeze windows, and refuse what would start in one."""

from dataclasses import asdict

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    Cluster,
    FreezeWindow,
    TeamRole,
    User,
)
from deployments.planning.freezing import Freeze, Window
from deployments.planning.text import Text, text
from deployments.selectors.freezes import database_now, freeze_of, goes_back
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError


class FrozenError(ConflictError):
    """A freeze window forbids to start anything new now."""

    code = "frozen"


def add_window(
    user: User, cluster: Cluster, window: Window, *, whole_team: bool
) -> FreezeWindow:
    """Keep a new window for the cluster, or for every cluster of its team.

    Raises:
        NotAllowedError: the person is no admin of the team.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        row = FreezeWindow.objects.create(
            team=cluster.team,
            cluster=None if whole_team else cluster,
            name=window.name,
            kind=window.kind,
            time_zone=window.time_zone,
            first_day=window.begins.date(),
            begins=window.begins.time(),
            minutes=window.minutes,
            repeat=window.repeat,
            weekdays=list(window.weekdays),
            last_day=window.last_day,
            created_by=user,
        )
        record(AuditAction.FREEZE_ADDED, user, row, after=asdict(window))
    return row


def end_window(user: User, row: FreezeWindow) -> None:
    """End a window; requests that were made while it held keep it.

    Raises:
        NotAllowedError: the person is no admin of the team.
        ConflictError: somebody ended it before.
    """
    require_role(user, row.team, TeamRole.ADMIN)
    with transaction.atomic():
        ended = FreezeWindow.objects.filter(pk=row.pk, ended_at=None)
        if ended.update(ended_at=Now(), ended_by=user) != 1:
            raise ConflictError(_("Somebody has ended this window already."))
        record(AuditAction.FREEZE_ENDED, user, row)


def check_freeze(request: ApprovalRequest, *, number: int | None = None) -> None:
    """Prove by the database's clock that no freeze forbids to start this plan now.

    ``number`` is that of the release, once there is one.

    Raises:
        FrozenError: a window forbids it, and the plan is not what served last or before that.
    """
    now = database_now()
    freeze = freeze_of(request, now)
    if freeze is not None and not goes_back(request, now, number):
        raise FrozenError(freeze_text(freeze))


def freeze_text(freeze: Freeze) -> Text:
    """Why nothing new may start, and until when."""
    if freeze.until is None:
        return text(
            "Nothing new may start: the freeze “{window}” has no end that the panel can foresee.",
            window=freeze.window,
        )
    return text(
        "Nothing new may start until {until}: freeze “{window}”.",
        until=f"{freeze.until:%Y-%m-%d %H:%M} UTC",
        window=freeze.window,
    )

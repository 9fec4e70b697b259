"""What happened lately: requests made and decided, releases begun and ended."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Release,
    ReleaseState,
    RequestState,
    User,
)
from deployments.selectors.ready_rows import asked_by, ready_models

SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line: when, the sentence, who; the release or the request that it leads to."""

    at: datetime
    sentence: str
    who: str = ""
    release: uuid.UUID | None = None
    request: uuid.UUID | None = None
    practice: bool = False


def recent_changes(user: User) -> tuple[Change, ...]:
    """The newest changes that the person may see, newest first, in two queries."""

    def requested() -> QuerySet[ApprovalRequest]:
        return (
            ApprovalRequest.objects.for_user(user)
            .select_related("plan__revision__deployment", "submitted_by")
            .defer("plan__document", "plan__revision__document")
            .order_by(Coalesce("decided_at", "created_at").desc())[:SHOWN]
        )

    def released() -> QuerySet[Release]:
        return (
            Release.objects.for_user(user)
            .select_related("plan__revision__deployment", "started_by")
            .defer("plan__document", "plan__revision__document")
            .order_by("-state_since")[:SHOWN]
        )

    person = asked_by(user)
    requests = ready_models(("recent requests", person), requested)
    releases = ready_models(("recent releases", person), released)
    changes = [change for row in requests for change in _of_request(row)]
    changes += [change for row in releases for change in _of_release(row)]
    newest_first = sorted(changes, key=lambda change: change.at, reverse=True)
    return tuple(newest_first[:SHOWN])


def _of_request(row: ApprovalRequest) -> Iterator[Change]:
    names = {
        "name": row.plan.revision.deployment.name,
        "revision": row.plan.revision.number,
        "state": str(row.get_state_display()).lower(),
    }
    yield Change(
        at=row.created_at,
        sentence=_("%(name)s r%(revision)s was submitted.") % names,
        who=str(row.submitted_by),
        request=row.pk,
        practice=row.plan.practice,
    )
    decided = row.state not in {RequestState.OPEN, RequestState.RELEASED}
    if decided and row.decided_at:
        yield Change(
            at=row.decided_at,
            sentence=_("%(name)s r%(revision)s: %(state)s.") % names,
            request=row.pk,
            practice=row.plan.practice,
        )


def _of_release(row: Release) -> Iterator[Change]:
    names = {
        "name": row.plan.revision.deployment.name,
        "revision": row.plan.revision.number,
        "number": row.number,
        "state": str(row.get_state_display()).lower(),
    }
    yield Change(
        at=row.created_at,
        sentence=_("Release %(number)s of %(name)s r%(revision)s began.") % names,
        who=str(row.started_by),
        release=row.pk,
        practice=row.plan.practice,
    )
    if row.state in CHANGING_STATES:
        return
    sentence = _("Release %(number)s of %(name)s: %(state)s.") % names
    if row.state == ReleaseState.FAILED:
        sentence = _("Release %(number)s of %(name)s failed.") % names
    yield Change(
        at=row.state_since,
        sentence=sentence,
        release=row.pk,
        practice=row.plan.practice,
    )

"""Alarms as pages show them: the open ones first, each with its figures in words."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, Value, When
from django.utils.translation import gettext as _

from deployments.models import (
    Alarm,
    AlarmKind,
    Deployment,
    Release,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.selectors.access import has_role

SERIOUS = (AlarmKind.SILENT_ZERO, AlarmKind.NO_DRAFTS)
PERCENT = frozenset({"silent_zero", "below_band", "all_accepted", "disagreement"})
MOST_MARKED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmPage:
    """One alarm, its figures as (name, kind, value), and whether the person may acknowledge it."""

    row: Alarm
    figures: tuple[tuple[str, str, Any], ...]
    source: str
    may_acknowledge: bool


def alarms_for(user: User) -> ScopedQuerySet[Alarm]:
    """Alarms of the person's teams."""
    return Alarm.objects.for_user(user).select_related(
        "deployment__cluster", "deployment__team", "acknowledged_by"
    )


def alarms_of(
    deployment: Deployment, start: datetime | None = None, end: datetime | None = None
) -> list[Alarm]:
    """What is wrong with a deployment now, and what was in the range if there is one; oldest first."""
    wanted = Q(closed_at=None)
    if start and end:
        wanted |= Q(began_at__lt=end, closed_at__gt=start)
    rows = Alarm.objects.filter(wanted, deployment=deployment).select_related(
        "acknowledged_by"
    )
    return list(rows.order_by("began_at")[:MOST_MARKED])


def calling_alarms() -> QuerySet[Alarm, Any]:
    """The deployments with an open alarm that nobody acknowledged, as a subquery."""
    return _calling().values("deployment")


def with_calling_alarm(releases: QuerySet[Release], wanted: Q) -> Any:  # noqa: ANN401 - annotated rows
    """Releases with the worst alarm of their deployment that nobody acknowledged: ``alarm_``.

    It is looked for where it is ``wanted`` and ``None`` elsewhere.
    """
    rank = Case(When(kind__in=SERIOUS, then=Value(0)), default=Value(1))
    worst = (
        _calling()
        .filter(deployment=OuterRef("deployment"))
        .order_by(rank, "opened_at", "pk")
    )
    return releases.annotate(
        alarm_pk=Case(When(wanted, then=Subquery(worst.values("pk")[:1]))),
        alarm_kind=Case(When(wanted, then=Subquery(worst.values("kind")[:1]))),
        alarm_text=Case(When(wanted, then=Subquery(worst.values("text")[:1]))),
        alarm_at=Case(When(wanted, then=Subquery(worst.values("opened_at")[:1]))),
    )


def _calling() -> QuerySet[Alarm]:
    return Alarm.objects.filter(closed_at=None, acknowledged_at=None)


def alarm_page(user: User, row: Alarm) -> AlarmPage:
    """One alarm with everything that its page shows."""
    team = row.deployment.team
    return AlarmPage(
        row=row,
        figures=tuple(_figures(row)),
        source=_source(row),
        may_acknowledge=row.closed_at is None
        and has_role(user, team, TeamRole.OPERATOR),
    )


def _figures(row: Alarm) -> list[tuple[str, str, Any]]:
    seen = row.evidence
    threshold = "percent" if row.kind in PERCENT else "figure"
    rate = (
        seen["accepted"] / seen["drafted"]
        if seen.get("drafted") and "accepted" in seen
        else None
    )
    rows = [
        (_("Window"), "duration", seen.get("window_s")),
        (_("Drafts"), "count", seen.get("drafts")),
        (_("Drafted"), "count", seen.get("drafted")),
        (_("Accepted"), "count", seen.get("accepted")),
        (_("Acceptance rate"), "percent", rate),
        (_("Generated tokens"), "count", seen.get("generated")),
        (_("Tokens per step in the week before"), "figure", seen.get("week_length")),
        (_("Rise between two positions"), "percent", seen.get("rise")),
        (_("Drafted, by the log"), "count", seen.get("lines")),
        (_("Drafted, by the counters"), "count", seen.get("counters")),
        (_("Times that lines were lost"), "count", seen.get("gaps")),
        (_("Log, bytes a second"), "count", seen.get("bytes_per_s")),
        (_("Bytes of log that are kept"), "count", seen.get("kept_bytes")),
        (_("How long a line is kept"), "duration", seen.get("kept_s")),
        (_("Clock ahead, in milliseconds"), "count", seen.get("offset_ms")),
        (_("Threshold"), threshold, seen.get("threshold")),
        (_("Threshold"), "duration", seen.get("threshold_s")),
        (_("Threshold, in milliseconds"), "count", seen.get("threshold_ms")),
    ]
    return [one for one in rows if one[2] is not None]


def _source(row: Alarm) -> str:
    number = {"number": row.release_number}
    match row.evidence.get("source"):
        case "hours":
            said = _("Sums by hour of release %(number)s, the last two hours.")
        case "run":
            said = _("Log and counters of release %(number)s since its engine started.")
        case "gaps":
            said = _("What the log reader noted about release %(number)s.")
        case "log":
            said = _("What came into the log of release %(number)s, by the minute.")
        case "host":
            said = _("The clocks of host and panel, at each look at the host.")
        case _other:
            said = _("Sums by minute of release %(number)s; prefill replicas left out.")
    return said % number

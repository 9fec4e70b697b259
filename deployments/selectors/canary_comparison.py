"""The canary of a live release beside its other replicas, over the same time."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Count, Model, OuterRef, QuerySet, Subquery, Sum

from deployments.models import (
    HOUR_S,
    MINUTE_S,
    CounterCursor,
    Deployment,
    HourRollup,
    MinuteRollup,
    Release,
    Serving,
    ServingHour,
    ServingMinute,
)
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.canaries import tried
from deployments.selectors.intents import spoken_method
from deployments.selectors.serving import STEPS_NAME
from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.canary import CanaryVerdict, Side, judge_canary
from deployments.telemetry.serving import histogram_from, merged

BY_MINUTE_S = 6 * HOUR_S
"""So long after it went live, minutes are read; later full hours."""
LONGEST_S = 7 * 24 * HOUR_S
NO_DRAFTS = (Role.PREFILL, Role.ROUTER)
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryPage:
    """Both sides and the verdict; ``since_s`` is when the window begins, in seconds since 1970."""

    planned: PlannedReplica
    tries: str
    others_draft: str
    canary: Side
    others: Side
    verdict: CanaryVerdict
    since_s: int


def canary_page(
    deployment: Deployment, live: Release, plan: Plan, now_s: int
) -> CanaryPage | None:
    """Compare the canary of a live release in two queries; ``None`` without one."""
    planned = plan.canary
    if planned is None or live.live_at is None:
        return None
    began_s = max(int(live.live_at.timestamp()), now_s - LONGEST_S)
    step_s = MINUTE_S if now_s - began_s < BY_MINUTE_S else HOUR_S
    # The step in which it went live is not whole.
    since_s = -(-began_s // step_s) * step_s
    counts = _counts(deployment, live, since_s, step_s)
    served = _served(deployment, live, since_s, step_s)
    canary, others = (
        _side(
            counts.get(mine, NOTHING),
            [row for row in served if row.replica.canary is mine],
            drafts=drafts,
        )
        for mine, drafts in (
            (True, planned.speculation is not None),
            (False, bool(plan.num_speculative_tokens)),
        )
    )
    return CanaryPage(
        planned=planned,
        tries=tried(plan),
        others_draft=spoken_method(plan),
        canary=canary,
        others=others,
        verdict=judge_canary(canary, others),
        since_s=since_s,
    )


def _of(
    rows: QuerySet[Row], deployment: Deployment, live: Release, since_s: int
) -> QuerySet[Row]:
    return (
        rows.filter(deployment=deployment, replica__release=live, start_s__gte=since_s)
        .exclude(replica__role__in=NO_DRAFTS)
        .order_by()
    )


def _counts(
    deployment: Deployment, live: Release, since_s: int, step_s: int
) -> dict[bool, Counts]:
    level = MinuteRollup if step_s == MINUTE_S else HourRollup
    found = _of(level._default_manager.all(), deployment, live, since_s)
    return {
        row["replica__canary"]: Counts(
            accepted=row["all_accepted"],
            drafted=row["all_drafted"],
            num_drafts=row["all_drafts"] if row["known"] == row["rows"] else None,
        )
        for row in found.values("replica__canary").annotate(
            all_accepted=Sum("accepted"),
            all_drafted=Sum("drafted"),
            all_drafts=Sum("num_drafts"),
            known=Count("num_drafts"),
            rows=Count("pk"),
        )
    }


def _served(
    deployment: Deployment, live: Release, since_s: int, step_s: int
) -> list[Serving]:
    level = ServingMinute if step_s == MINUTE_S else ServingHour
    named = CounterCursor.objects.filter(replica=OuterRef("replica"))
    newest = named.exclude(output_from="").order_by("-created_at")
    found: QuerySet[Serving] = level._default_manager.all()
    return list(
        _of(found, deployment, live, since_s)
        .select_related("replica")
        .annotate(output_from=Subquery(newest.values("output_from")[:1]))
    )


def _side(counts: Counts, rows: Iterable[Serving], *, drafts: bool) -> Side:
    rows = list(rows)
    scrapes = sum(row.scrapes for row in rows)
    return Side(
        drafts=drafts,
        counts=counts,
        running=sum(row.running_sum for row in rows) / scrapes if scrapes else None,
        requests=sum(row.requests for row in rows),
        generated=sum(row.generated for row in rows),
        output=merged(histogram_from(row.output_token) for row in rows),
        by_step=any(vars(row)["output_from"] == STEPS_NAME for row in rows),
    )

"""Judge the acceptance of live deployments from their roll-ups, so that lists need not."""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from deployments.models import (
    DAY_S,
    HOUR_S,
    AcceptanceStanding,
    DayRollup,
    Deployment,
    HourRollup,
    LogCursor,
    Release,
    ReleaseState,
    RollupRound,
    Standing,
)
from deployments.planning.plan import Role
from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.advice import advise

HOURS = 24
BASE_DAYS = 7
MOST = 2_000
JUDGED_AGAIN_AFTER = timedelta(minutes=10)
"""A day slides on although nothing comes in."""
WITHOUT_DRAFTS = (Role.PREFILL, Role.ROUTER)
NOT_SPECULATING = ("", "off", "none")
FIGURES = (
    "verdict",
    "accepted",
    "drafted",
    "num_drafts",
    "per_position",
    "course",
    "before_accepted",
    "before_num_drafts",
    "heard_at",
    "judged_at",
)


@dataclass(slots=True)
class Measured:
    """What one deployment drafted: by hour of the last 24, and in the seven days before today."""

    hours: list[Counts] = field(default_factory=lambda: [NOTHING] * HOURS)
    before: Counts = NOTHING
    newest_ns: int = 0

    @property
    def counts(self) -> Counts:
        """The sum of the hours."""
        return sum(self.hours, NOTHING)


def judge_standings(most: int = MOST) -> int:
    """Note what was heard of every live deployment, and judge those that are due; returns how many."""
    now = timezone.now()
    with transaction.atomic():
        # A round that adds samples meanwhile would be overlooked.
        RollupRound.objects.get_or_create(only=True)
        RollupRound.objects.select_for_update().get(only=True)
        _found_live(most)
        _note_what_was_heard()
        due = list(
            AcceptanceStanding.objects.filter(
                Q(judged_at=None) | Q(judged_at__lt=now - JUDGED_AGAIN_AFTER)
            ).order_by(F("judged_at").asc(nulls_first=True))[:most]
        )
        _judge(due, now)
        AcceptanceStanding.objects.bulk_create(
            [_copy(row) for row in due],
            batch_size=500,
            update_conflicts=True,
            unique_fields=["deployment"],
            update_fields=FIGURES,
        )
    return len(due)


def _copy(row: AcceptanceStanding) -> AcceptanceStanding:
    """The same figures under a new key, which the database takes as an update of the old row."""
    figures = {name: getattr(row, name) for name in FIGURES}
    return AcceptanceStanding(deployment_id=row.deployment_id, **figures)


def _found_live(most: int) -> None:
    """A row for each live deployment, whether it ever drafted or not."""
    live = Release.objects.filter(deployment=OuterRef("pk"), state=ReleaseState.LIVE)
    new = Deployment.objects.filter(Exists(live), standing=None)[:most]
    AcceptanceStanding.objects.bulk_create(
        [AcceptanceStanding(deployment=row) for row in new], ignore_conflicts=True
    )


def _note_what_was_heard() -> None:
    """The newest look at the logs of what is live and drafts."""
    newest = (
        LogCursor.objects.filter(
            replica__release__deployment=OuterRef("deployment"),
            replica__release__state=ReleaseState.LIVE,
        )
        .exclude(replica__role__in=WITHOUT_DRAFTS)
        .order_by()
        .values("replica__release__deployment")
        .annotate(newest=Max("read_at"))
        .values("newest")
    )
    live = Release.objects.filter(
        deployment=OuterRef("deployment"), state=ReleaseState.LIVE
    )
    AcceptanceStanding.objects.filter(Exists(live)).update(
        heard_at=Coalesce(Subquery(newest), F("heard_at"))
    )


def _judge(due: Iterable[AcceptanceStanding], now: datetime) -> None:
    ids = [row.deployment_id for row in due]
    measured = measure(ids, int(now.timestamp()))
    plans = {
        pk: (method, count)
        for pk, method, count in Release.objects.filter(
            deployment__in=ids, state=ReleaseState.LIVE
        ).values_list("deployment_id", "plan__method", "plan__num_speculative_tokens")
    }
    for row in due:
        seen = measured[row.deployment_id]
        method, count = plans.get(row.deployment_id, ("", None))
        counts = seen.counts
        row.verdict = verdict_of(method, count, counts)
        row.accepted, row.drafted = counts.accepted, counts.drafted
        row.num_drafts = counts.num_drafts
        row.per_position = list(counts.per_position)
        row.course = [one.mean_acceptance_length for one in seen.hours]
        row.before_accepted = seen.before.accepted
        row.before_num_drafts = seen.before.num_drafts
        row.judged_at = now
        if seen.newest_ns:
            newest = datetime.fromtimestamp(seen.newest_ns / 10**9, UTC)
            row.heard_at = max(row.heard_at or newest, newest)


def verdict_of(method: str, count: int | None, counts: Counts) -> Standing:
    """How the counts stand, as the advice of the deployment's page judges them."""
    if method in NOT_SPECULATING:
        return Standing.OFF
    return Standing(advise(method, count, counts).verdict)


def measure(
    deployments: Collection[uuid.UUID], now_s: int
) -> dict[uuid.UUID, Measured]:
    """Sums from roll-ups, in two queries; prefill replicas decode one token a request and are left out.

    So are canaries, which draft in another way than what is judged.
    """
    measured = {pk: Measured() for pk in deployments}
    end_s = -(-now_s // HOUR_S) * HOUR_S
    start_s = end_s - HOURS * HOUR_S
    hours = HourRollup.objects.filter(start_s__gte=start_s, start_s__lt=end_s)
    today_s = now_s // DAY_S * DAY_S
    days = DayRollup.objects.filter(
        start_s__gte=today_s - BASE_DAYS * DAY_S, start_s__lt=today_s
    )
    for rows in (hours, days):
        found = (
            rows.filter(deployment__in=deployments)
            .exclude(replica__role=Role.PREFILL)
            .exclude(replica__canary=True)
            .order_by()
            .values_list(
                "deployment_id",
                "start_s",
                "newest_ns",
                "accepted",
                "drafted",
                "num_drafts",
                "per_position",
            )
        )
        for pk, at_s, newest_ns, *sums in found.iterator():
            one = measured[pk]
            counts = counts_of(*sums)
            if rows is days:
                one.before += counts
                continue
            place = (at_s - start_s) // HOUR_S
            one.hours[place] += counts
            one.newest_ns = max(one.newest_ns, newest_ns)
    return measured


def counts_of(
    accepted: int, drafted: int, num_drafts: int | None, per_position: list[int]
) -> Counts:
    """The columns of a roll-up as counts."""
    return Counts(
        accepted=accepted,
        drafted=drafted,
        num_drafts=num_drafts,
        per_position=tuple(per_position),
    )

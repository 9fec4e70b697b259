"""How the acceptance of live deployments stands, read from what the roll-up rounds noted."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    F,
    Max,
    Q,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.functions import Coalesce, Greatest, RowNumber
from django.utils import timezone

from deployments.models import (
    AcceptanceStanding,
    Deployment,
    Release,
    ReleaseState,
    Standing,
    User,
)
from deployments.selectors.ready_rows import (
    AmongGiven,
    Given,
    asked_by,
    ready_models,
    ready_rows,
)
from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.advice import ENOUGH_DRAFTS, Thresholds, thresholds_for

LEVEL_WITHIN = 0.03
"""A mean acceptance length within 3 % of the week's is level."""
NOT_SPECULATING = ("", "off", "none")
STANDING = "deployment__standing"
WORST_FIRST: Sequence[Standing] = tuple(Standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingLine:
    """One live deployment as lists show it; ``verdict`` is ``stale`` when nothing was heard lately."""

    release: Release
    standing: AcceptanceStanding | None
    verdict: Standing
    heard_at: datetime

    @property
    def speculates(self) -> bool:
        """Whether the plan drafts at all."""
        return self.release.plan.method not in NOT_SPECULATING

    @property
    def stale(self) -> bool:
        """Whether nothing was heard of it for longer than the settings allow."""
        return self.verdict is Standing.STALE

    @property
    def counts(self) -> Counts:
        """What was drafted and accepted in the last 24 hours."""
        row = self.standing
        if row is None:
            return NOTHING
        return Counts(
            accepted=row.accepted,
            drafted=row.drafted,
            num_drafts=row.num_drafts,
            per_position=tuple(row.per_position),
        )

    @property
    def course(self) -> Sequence[float | None]:
        """The mean acceptance length of each of the last 24 hours."""
        return self.standing.course if self.standing else ()

    @property
    def positions(self) -> tuple[float, ...] | None:
        """The accepted share of drafts by draft position."""
        return self.counts.per_position_rates

    @property
    def thresholds(self) -> Thresholds | None:
        """The rates between low, normal and healthy, where the count is known."""
        plan = self.release.plan
        count = plan.num_speculative_tokens
        comparable = self.verdict in {Standing.LOW, Standing.NORMAL, Standing.HEALTHY}
        return thresholds_for(plan.method, count) if count and comparable else None

    @property
    def trend(self) -> float | None:
        """The mean acceptance length of the day against the seven days before, as a fraction.

        ``None`` unless both had enough drafts to compare.
        """
        row = self.standing
        drafts = row.num_drafts if row else None
        before = row.before_num_drafts if row else None
        if not row or min(drafts or 0, before or 0) < ENOUGH_DRAFTS:
            return None
        length = 1 + row.accepted / (drafts or 1)
        return length / (1 + row.before_accepted / (before or 1)) - 1


class Judged(NamedTuple):
    """A live release and where it stands: ``place`` among all, ``quiet`` within its verdict.

    ``alike`` have that verdict, and ``newest`` is when any of them was heard of.
    """

    pk: uuid.UUID
    verdict: str
    heard: datetime
    place: int
    quiet: int
    alike: int
    newest: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCount:
    """How many live deployments have a verdict."""

    verdict: Standing
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingCounts:
    """How many live deployments there are of each verdict, worst first."""

    by_verdict: Mapping[Standing, int]
    newest: datetime | None

    @property
    def listed(self) -> tuple[VerdictCount, ...]:
        """Those that there are any of."""
        return tuple(
            VerdictCount(verdict=verdict, count=self.by_verdict[verdict])
            for verdict in WORST_FIRST
            if self.by_verdict.get(verdict)
        )

    def of(self, *verdicts: Standing) -> int:
        """How many have one of the verdicts."""
        return sum(self.by_verdict.get(verdict, 0) for verdict in verdicts)

    @property
    def total(self) -> int:
        """All live deployments."""
        return sum(self.by_verdict.values())

    @property
    def stale(self) -> int:
        """Those that nothing was heard of."""
        return self.of(Standing.STALE)

    @property
    def as_expected(self) -> int:
        """Those that accept as much as their count lets expect."""
        return self.of(Standing.HEALTHY, Standing.NORMAL)

    @property
    def judged(self) -> int:
        """Those whose acceptance could be judged."""
        return self.as_expected + self.of(Standing.ZERO, Standing.LOW)


def standings(
    user: User, most: int, most_stale: int
) -> tuple[StandingCounts, tuple[StandingLine, ...], tuple[StandingLine, ...]]:
    """How many of the person's live deployments have which verdict; in two queries.

    With those to look at first, and those silent for longest.
    """
    found = _judged(user, most, most_stale)
    counts = StandingCounts(
        by_verdict={Standing(one.verdict): one.alike for one in found},
        newest=max((one.newest for one in found if one.newest), default=None),
    )
    shown = [one.pk for one in found]
    rows = ready_models("standing lines", _shown, releases=shown) if shown else []
    known = {row.pk: row for row in rows}
    lines = {
        one: StandingLine(
            release=known[one.pk],
            standing=getattr(known[one.pk].deployment, "standing", None),
            verdict=Standing(one.verdict),
            heard_at=one.heard,
        )
        for one in found
        if one.pk in known
    }
    stale = [one for one in lines if one.verdict == Standing.STALE]
    longest = sorted(stale, key=lambda one: one.quiet)[:most_stale]
    first = [lines[one] for one in lines if one.place <= most]
    return counts, tuple(first), tuple(lines[one] for one in longest)


def _judged(user: User, most: int, most_stale: int) -> list[Judged]:
    """In one pass over all that is live: what is shown of it, and at least one of each verdict."""

    def judged() -> Any:  # noqa: ANN401 - a values list
        of_verdict: dict[str, Any] = {"partition_by": "verdict"}
        return (
            _live(user)
            .annotate(
                place=Window(RowNumber(), order_by=["rank", "deployment__name"]),
                quiet=Window(RowNumber(), order_by=["heard", "pk"], **of_verdict),
                alike=Window(Count("pk"), **of_verdict),
                newest=Window(Max(f"{STANDING}__heard_at"), **of_verdict),
            )
            .filter(
                Q(place__lte=most)
                | Q(quiet=1)
                | Q(verdict=Standing.STALE, quiet__lte=most_stale)
            )
            .order_by("place")
            .values_list(*Judged._fields)
        )

    key = ("standings", asked_by(user), most, most_stale)
    return [
        Judged._make(row) for row in ready_rows(key, judged, stale_edge=stale_edge())
    ]


def _shown() -> QuerySet[Release]:
    return (
        Release.objects.filter(AmongGiven("pk", "releases", Release._meta.pk))
        .select_related("deployment__cluster", STANDING, "plan")
        .defer("plan__document")
    )


def silent_since(deployment: Deployment, live: Release | None) -> datetime | None:
    """Since when nothing was heard of what is live, if that is worth a word."""
    if live is None or live.live_at is None or live.plan.method in NOT_SPECULATING:
        return None
    standing = getattr(deployment, "standing", None)
    heard = standing.heard_at if standing and standing.heard_at else live.live_at
    heard = max(heard, live.live_at)
    return heard if heard < stale_edge() else None


def heard_at(deployment: Deployment, live: Release | None) -> datetime | None:
    """When what is live was last heard of; ``None`` where nothing is live or nothing came yet."""
    standing = getattr(deployment, "standing", None)
    if live is None or live.live_at is None or standing is None:
        return None
    heard: datetime | None = standing.heard_at
    return heard if heard and heard >= live.live_at else None


def stale_edge() -> datetime:
    """What was last heard of before this time is stale."""
    return timezone.now() - timedelta(seconds=settings.STALE_AFTER_SECONDS)


def _with_verdicts(rows: QuerySet[Release]) -> Any:  # noqa: ANN401 - annotated rows
    """Live releases with ``verdict``, its ``rank`` from the worst, and ``heard``; asked with ``stale_edge``."""
    heard = Greatest(Coalesce(f"{STANDING}__heard_at", "live_at"), "live_at")
    stored = Case(
        When(plan__method__in=NOT_SPECULATING, then=Value(Standing.OFF)),
        default=Coalesce(f"{STANDING}__verdict", Value(Standing.NO_DATA)),
    )
    ranks = [
        When(verdict=verdict, then=Value(rank))
        for rank, verdict in enumerate(WORST_FIRST)
    ]
    return rows.annotate(heard=heard, stored=stored).annotate(
        verdict=Case(
            When(
                ~Q(stored=Standing.OFF)
                & Q(heard__lt=Given("stale_edge", DateTimeField())),
                then=Value(Standing.STALE),
            ),
            default=F("stored"),
        ),
        rank=Case(*ranks, default=Value(len(ranks))),
    )


def _live(user: User) -> Any:  # noqa: ANN401 - the same
    return _with_verdicts(
        Release.objects.for_user(user).filter(state=ReleaseState.LIVE)
    )

"""Pairs of benchmarks: the steps of one, what lies between its arms, and what they say together."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Min, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    OPEN_PAIRS,
    BenchmarkJob,
    BenchmarkPair,
    BenchmarkResult,
    Deployment,
    PairState,
    Release,
    ReleaseEvent,
    ReleaseState,
    User,
)
from deployments.planning.decision import OFF
from deployments.planning.errors import PlanningError
from deployments.selectors.benchmark_bars import Bars, bars_of
from deployments.selectors.benchmarks import (
    ComparePage,
    Judged,
    compare_page,
    runs_of,
)
from deployments.selectors.changes import Setting, setting_changes
from deployments.selectors.plans import stored_plan
from deployments.selectors.texts import say
from deployments.telemetry.benchmarks.drift import judge_in_turn

STEP_NAMES: dict[PairState, Promise] = {
    PairState.APPROVAL: _("Approval of the run without speculation"),
    PairState.FIRST: _("Measure with speculation"),
    PairState.SWITCHING_OFF: _("Turn speculation off"),
    PairState.BASE: _("Measure without speculation"),
    PairState.SWITCHING_BACK: _("Turn speculation on again"),
    PairState.LAST: _("Measure with speculation again"),
}
ARM_NAMES = (_("without"), _("with, first"), _("with, again"))
SWITCHES = (PairState.APPROVAL, PairState.SWITCHING_OFF, PairState.SWITCHING_BACK)
RELATED = (
    "deployment__cluster",
    "deployment__team",
    "other",
    "asked_by",
    "request__plan__revision",
    "with_it__plan__revision",
    "without_it__plan__revision",
    "restored",
    "first__result",
    "base__result__deployment",
    "base__replica__release__plan__revision",
    "last__result",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStep:
    """One step: ``state`` is done, current, failed or later; ``away_s`` how long nothing served, in seconds.

    ``job`` and ``release`` are what the step made.
    """

    name: Promise
    state: str
    job: BenchmarkJob | None = None
    release: Release | None = None
    away_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPage:
    """Everything that the page of a pair shows; ``judged`` and ``compared`` once all was measured."""

    pair: BenchmarkPair
    steps: tuple[PairStep, ...]
    settings: tuple[Setting, ...]
    judged: Judged | None
    compared: ComparePage | None
    bars: Bars | None
    results: tuple[BenchmarkResult, ...]

    @property
    def open(self) -> bool:
        """Whether it goes on."""
        return self.pair.state in OPEN_PAIRS

    @property
    def stamp(self) -> str:
        """Changes when the page would."""
        jobs = (self.pair.first, self.pair.base, self.pair.last)
        told = "".join(one.state[0] if one else "-" for one in jobs)
        asked = "c" if self.pair.cancel_asked_at else ""
        hold = "h" if self.pair.hold else ""
        return f"{self.pair.state}{told}{asked}{hold}"


def pairs_for(user: User) -> QuerySet[BenchmarkPair]:
    """Pairs of the person's teams."""
    return BenchmarkPair.objects.for_user(user).select_related(*RELATED)


def pairs_of(deployment: Deployment, most: int) -> tuple[BenchmarkPair, ...]:
    """The newest pairs of a deployment, without their prompts."""
    rows = (
        BenchmarkPair.objects.filter(deployment=deployment)
        .select_related("asked_by", "other")
        .defer("prompts", "course")
    )
    return tuple(rows[:most])


def live_without(deployment: Deployment) -> QuerySet[Deployment]:
    """Live deployments without speculation of the same team, cluster and model: what could be the other arm."""
    models = deployment.releases.filter(state=ReleaseState.LIVE).values(
        "plan__model_key"
    )
    return (
        Deployment.objects.filter(
            cluster=deployment.cluster_id,
            team=deployment.team_id,
            releases__state=ReleaseState.LIVE,
            releases__plan__method=OFF,
            releases__plan__model_key__in=models,
        )
        .exclude(pk=deployment.pk)
        .order_by("name")
    )


def pair_page(pair: BenchmarkPair) -> PairPage:
    """Put together what a pair has made so far, in two queries."""
    jobs = (pair.base, pair.first, pair.last)
    results = tuple(one.result for one in jobs if one is not None and one.result)
    whole = pair.state == PairState.DONE and len(results) == len(jobs)
    judged = _judged(pair, results) if whole else None
    return PairPage(
        pair=pair,
        steps=tuple(_steps(pair)),
        settings=_settings(pair),
        judged=judged,
        compared=compare_page(_named(results)) if whole else None,
        bars=bars_of([(judged.name, judged.comparison)]) if judged else None,
        results=results,
    )


def _named(results: Sequence[BenchmarkResult]) -> list[BenchmarkResult]:
    """The results under the names of their arms, as their columns are read; the rows keep their own."""
    named = []
    for result, name in zip(results, ARM_NAMES, strict=True):
        column = copy(result)
        column.name = str(name)
        named.append(column)
    return named


def _judged(pair: BenchmarkPair, results: Sequence[BenchmarkResult]) -> Judged:
    off, first, last = (runs_of(one) for one in results)
    comparison, _drifts = judge_in_turn(off, first, last)
    return Judged(
        name=pair.deployment.name,
        comparison=comparison,
        reasons=tuple(say(reason) for reason in comparison.why),
    )


def _settings(pair: BenchmarkPair) -> tuple[Setting, ...]:
    """What differs between the arms, from the one without speculation to the one with it."""
    off = pair.request.plan if pair.request else None
    if off is None and pair.base is not None:
        off = pair.base.replica.release.plan
    if off is None:
        return ()
    try:
        return setting_changes(stored_plan(off), stored_plan(pair.with_it.plan))
    except PlanningError:
        return ()


def _steps(pair: BenchmarkPair) -> Iterable[PairStep]:
    made: dict[PairState, PairStep] = {}
    away = _away(pair)
    for state, name in STEP_NAMES.items():
        if not pair.in_turn and state in SWITCHES:
            continue
        job = {
            PairState.FIRST: pair.first,
            PairState.BASE: pair.base,
            PairState.LAST: pair.last,
        }.get(state)
        release = {
            PairState.SWITCHING_OFF: pair.without_it,
            PairState.SWITCHING_BACK: pair.restored,
        }.get(state)
        made[state] = PairStep(
            name=name,
            state="later",
            job=job,
            release=release,
            away_s=away.get(release.pk) if release else None,
        )
    order = list(made)
    reached = _reached(pair, order, made)
    for place, state in enumerate(order):
        if place < reached:
            shown = "done"
        elif place == reached and pair.state in OPEN_PAIRS:
            shown = "current"
        elif place == reached and pair.state != PairState.DONE:
            shown = "failed"
        else:
            shown = "later"
        yield replace(made[state], state=shown)


def _reached(
    pair: BenchmarkPair, order: list[PairState], made: dict[PairState, PairStep]
) -> int:
    """The place of the step that it is at, or at which it ended."""
    if pair.state == PairState.DONE:
        return len(order)
    if pair.state in made:
        return order.index(PairState(pair.state))
    begun = [
        place
        for place, state in enumerate(order)
        if made[state].job is not None or made[state].release is not None
    ]
    return max(begun, default=0)


def _away(pair: BenchmarkPair) -> dict[object, float]:
    """For how long each switch left nothing serving: from stopping what ran until the new was live."""
    switches = {
        one.pk: one.live_at
        for one in (pair.without_it, pair.restored)
        if one is not None and one.live_at is not None
    }
    if not switches:
        return {}
    began: dict[object, datetime] = dict(
        ReleaseEvent.objects.filter(release__in=switches, step="STOP_OLD")
        .order_by()
        .values_list("release")
        .annotate(began=Min("created_at"))
    )
    return {
        key: (live_at - began[key]).total_seconds()
        for key, live_at in switches.items()
        if key in began
    }

"""How a deployment serves over a range, from what was added up of its engines' counters."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deployments.models import (
    DAY_S,
    HOUR_S,
    CounterCursor,
    Deployment,
    Release,
    Serving,
    ServingDay,
    ServingHour,
    ServingMinute,
)
from deployments.planning.plan import Role
from deployments.selectors.acceptance_events import Marker, markers_of, releases_until
from deployments.selectors.acceptance_range import Range
from deployments.telemetry.serving import Histogram, histogram_from, merged

MEDIAN, HIGH = 0.5, 0.9
CHART_HEIGHT = 84.0
STEPS_NAME = "inter_token_latency_seconds"
"""Under speculation a time per step, which is several tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One replica over one step of the range or all of it; ``None`` is not exported, never 0."""

    replica: str
    role: str
    scrapes: int
    running: float | None
    running_most: float
    waiting: float | None
    waiting_most: float
    cache: float | None
    cache_most: float
    generated: int
    requests: int
    restarts: int
    first: Histogram
    output: Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What all replicas did together over some seconds; ``None`` where nothing was scraped."""

    start_s: int
    step_s: int
    first_median: float | None = None
    first_high: float | None = None
    output_median: float | None = None
    output_high: float | None = None
    running: float | None = None
    waiting: float | None = None
    cache: float | None = None
    cache_most: float | None = None
    tokens_s: float | None = None
    requests_s: float | None = None
    restarts: int = 0

    @property
    def start(self) -> datetime:
        """When it begins."""
        return datetime.fromtimestamp(self.start_s, UTC)

    @property
    def seen(self) -> bool:
        """Whether anything was scraped."""
        return self.tokens_s is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One measure over the range: its lines as path data in 100 by ``CHART_HEIGHT``."""

    key: str
    kind: str
    line: str
    second: str
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingPage:
    """The tab: the range as a whole, its steps, and each replica of the range.

    ``only`` is the role or the replica that steps and charts are of, empty for all but prefill;
    ``names`` are those that one may ask for.
    """

    range: Range
    only: str
    names: tuple[str, ...]
    markers: tuple[Marker, ...]
    whole: Sums
    steps: tuple[Sums, ...]
    charts: tuple[Chart, ...]
    replicas: tuple[Part, ...]
    output_from: str
    problems: tuple[tuple[str, str, datetime | None], ...]

    @property
    def rows(self) -> tuple[Sums, ...]:
        """The steps with something in them, newest first."""
        return tuple(step for step in self.steps[::-1] if step.seen)

    @property
    def by_step(self) -> bool:
        """Whether time per output token is only known per step of several tokens."""
        return self.output_from == STEPS_NAME


def serving_page(
    deployment: Deployment, live: Release | None, one: Range, only: str = ""
) -> ServingPage:
    """Read the range in three queries; prefill is in steps and charts only where asked for."""
    level = _level(one.step_s)
    found = list(
        level._default_manager.filter(
            deployment=deployment, start_s__gte=one.start_s, start_s__lt=one.end_s
        )
        .select_related("replica")
        .order_by("start_s")
    )
    shown = [row for row in found if _is_of(row, only)]
    by_step: dict[int, list[Serving]] = {}
    for row in shown:
        place = (row.start_s - one.start_s) // one.step_s
        by_step.setdefault(place, []).append(row)
    steps = tuple(
        _sums(by_step.get(place, []), one.start_s + place * one.step_s, one.step_s)
        for place in range(one.steps)
    )
    output_from, problems = _cursors(live)
    parts = _replicas(found)
    roles = dict.fromkeys(part.role for part in parts)
    return ServingPage(
        range=one,
        only=only,
        names=(*roles, *(part.replica for part in parts)),
        markers=markers_of(releases_until(deployment, one.end), one),
        # What nobody saw is not counted as silence.
        whole=_sums(
            shown, one.start_s, one.step_s * max(1, sum(step.seen for step in steps))
        ),
        steps=steps,
        charts=tuple(_charts(steps)),
        replicas=parts,
        output_from=output_from,
        problems=problems,
    )


def _is_of(row: Serving, only: str) -> bool:
    role, rank = row.replica.role, row.replica.rank
    return only in {role, f"{role}-{rank}"} if only else role != Role.PREFILL


def _level(step_s: int) -> type[Serving]:
    if step_s % DAY_S == 0:
        return ServingDay
    return ServingHour if step_s % HOUR_S == 0 else ServingMinute


def _cursors(
    live: Release | None,
) -> tuple[str, tuple[tuple[str, str, datetime | None], ...]]:
    """Where time per output token is from, and the replicas whose counters are not read."""
    if live is None:
        return "", ()
    newest: dict[str, CounterCursor] = {}
    rows = CounterCursor.objects.filter(replica__release=live)
    for row in rows.select_related("replica").order_by("created_at"):
        newest[f"{row.replica.role}-{row.replica.rank}"] = row
    names = [row.output_from for row in newest.values() if row.output_from]
    problems = tuple(
        (name, row.problem, row.problem_since)
        for name, row in sorted(newest.items())
        if row.problem
    )
    return (names[0] if names else ""), problems


def _replicas(rows: Iterable[Serving]) -> tuple[Part, ...]:
    same: dict[tuple[str, int], list[Serving]] = {}
    for row in rows:
        same.setdefault((row.replica.role, row.replica.rank), []).append(row)
    return tuple(_part(of) for _key, of in sorted(same.items()))


def _part(rows: Sequence[Serving]) -> Part:
    scrapes = sum(row.scrapes for row in rows)
    cached = sum(row.cache_scrapes for row in rows)
    replica = rows[0].replica
    return Part(
        replica=f"{replica.role}-{replica.rank}",
        role=replica.role,
        scrapes=scrapes,
        running=sum(row.running_sum for row in rows) / scrapes if scrapes else None,
        running_most=max(row.running_most for row in rows),
        waiting=sum(row.waiting_sum for row in rows) / scrapes if scrapes else None,
        waiting_most=max(row.waiting_most for row in rows),
        cache=sum(row.cache_sum for row in rows) / cached if cached else None,
        cache_most=max(row.cache_most for row in rows),
        generated=sum(row.generated for row in rows),
        requests=sum(row.requests for row in rows),
        restarts=sum(row.restarts for row in rows),
        first=merged(histogram_from(row.first_token) for row in rows),
        output=merged(histogram_from(row.output_token) for row in rows),
    )


def _sums(rows: Iterable[Serving], start_s: int, step_s: int) -> Sums:
    """Requests of replicas are added, the cache is averaged over them."""
    parts = _replicas(rows)
    if not parts:
        return Sums(start_s=start_s, step_s=step_s)
    first = merged(part.first for part in parts)
    output = merged(part.output for part in parts)
    caches = [part.cache for part in parts if part.cache is not None]
    return Sums(
        start_s=start_s,
        step_s=step_s,
        first_median=first.quantile(MEDIAN),
        first_high=first.quantile(HIGH),
        output_median=output.quantile(MEDIAN),
        output_high=output.quantile(HIGH),
        running=sum(part.running or 0.0 for part in parts),
        waiting=sum(part.waiting or 0.0 for part in parts),
        cache=sum(caches) / len(caches) if caches else None,
        cache_most=max(part.cache_most for part in parts) if caches else None,
        tokens_s=sum(part.generated for part in parts) / step_s,
        requests_s=sum(part.requests for part in parts) / step_s,
        restarts=sum(part.restarts for part in parts),
    )


Read = Callable[[Sums], Any]
CHARTS: tuple[tuple[str, str, Read, Read | None], ...] = (
    ("output", "ms", lambda one: one.output_median, lambda one: one.output_high),
    ("first", "ms", lambda one: one.first_median, lambda one: one.first_high),
    ("requests", "figure", lambda one: one.running, lambda one: one.waiting),
    ("cache", "percent", lambda one: one.cache, lambda one: one.cache_most),
    ("tokens", "figure", lambda one: one.tokens_s, None),
)


def _charts(steps: Sequence[Sums]) -> Iterable[Chart]:
    for key, kind, read, second in CHARTS:
        lines = [[one(step) for step in steps] for one in (read, second) if one]
        most = max((v for line in lines for v in line if v is not None), default=0.0)
        paths = [_path(line, most) for line in lines]
        yield Chart(
            key=key,
            kind=kind,
            line=paths[0],
            second=paths[1] if len(paths) > 1 else "",
            most=most,
        )


def _path(values: Sequence[float | None], most: float) -> str:
    """Path data with a gap where there is no value; a lonely value is a short stroke."""
    width = 100.0 / max(1, len(values))
    drawn, open_ = [], False
    for place, value in enumerate(values):
        if value is None:
            open_ = False
            continue
        y = CHART_HEIGHT - (value / most * (CHART_HEIGHT - 4) if most else 0.0)
        x = place * width
        drawn.append(f"{'L' if open_ else 'M'}{x:.2f} {y:.1f}H{x + width:.2f}")
        open_ = True
    return "".join(drawn)

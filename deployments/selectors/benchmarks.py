"""Benchmark results: the list, one of them, and several side by side."""

import shlex
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.models import BenchmarkResult, Deployment, Revision, Team, User
from deployments.planning.text import listed
from deployments.selectors.benchmark_bars import Bars, bars_of
from deployments.selectors.texts import say
from deployments.telemetry.benchmarks.documents import run_from_document
from deployments.telemetry.benchmarks.loads import Load, at_load, loads
from deployments.telemetry.benchmarks.repeating import (
    command,
    completed,
    untold,
)
from deployments.telemetry.benchmarks.side_by_side import (
    Cell,
    LoadTable,
    measure,
    side_by_side,
)
from deployments.telemetry.benchmarks.values import BenchmarkRun
from deployments.telemetry.benchmarks.verdict import Comparison, compare

PAGE_RESULTS = 25
MOST_COMPARED = 6
"""More columns than this are not read side by side by anybody."""

MEASURE_NAMES: dict[str, tuple[Promise, str, int]] = {
    "output_tokens_per_s": (_("Output throughput"), "tok/s", 1),
    "requests_per_s": (_("Request rate"), "req/s", 2),
    "mean_tpot_ms": (_("Time per output token, mean"), "ms", 2),
    "mean_itl_ms": (_("Inter-token latency, mean"), "ms", 2),
    "mean_ttft_ms": (_("Time to first token, mean"), "ms", 1),
    "p99_ttft_ms": (_("Time to first token, P99"), "ms", 1),
    "mean_e2el_ms": (_("End-to-end latency, mean"), "ms", 1),
    "failed": (_("Failed requests"), "", 0),
    "acceptance_rate": (_("Acceptance rate"), "%", 1),
    "mean_acceptance_length": (_("Mean acceptance length"), "", 2),
    "num_speculative_tokens": (_("num_speculative_tokens"), "", 0),
}
"""Name, unit and decimals of each line of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One figure of the table; ``difference`` from the first result is in per cent."""

    value: float | None
    difference: float | None
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; rates are in per cent."""

    name: object
    unit: str
    decimals: int
    better: str
    per_step: bool
    cells: tuple[Shown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSection:
    """The table of one load; ``positions`` has the acceptance by position of each result."""

    concurrency: int | None
    rate: float | None
    rows: tuple[Row, ...]
    positions: tuple[tuple[float, ...] | None, ...]
    repeats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict on one result against the first one."""

    name: str
    comparison: Comparison
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Why inter-token latency is per step: a result's two latencies and what divides them."""

    name: str
    itl_ms: float
    tpot_ms: float
    tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """The command that measures again; ``untold`` stands in capitals in it.

    ``others`` are further concurrencies that were measured with the same command.
    """

    name: str
    command: str
    untold: str
    others: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage:
    """Everything that the page of some results shows."""

    results: tuple[BenchmarkResult, ...]
    judged: tuple[Judged, ...]
    sections: tuple[LoadSection, ...]
    bars: Bars | None
    chunks: tuple[Chunk, ...]
    repeats: tuple[Repeat, ...]
    missing: int


def results_for(user: User) -> QuerySet[BenchmarkResult]:
    """The results of the person's teams, newest first."""
    return BenchmarkResult.objects.for_user(user).select_related(
        "team", "deployment", "revision", "created_by"
    )


def chosen(user: User, keys: Iterable[uuid.UUID]) -> list[BenchmarkResult]:
    """Those of these results that the person may see and that still exist, oldest first.

    A result without speculation comes before those with it: it is what they are compared with.
    """
    wanted = list(dict.fromkeys(keys))[:MOST_COMPARED]
    found = results_for(user).filter(pk__in=wanted)
    return sorted(found, key=lambda row: (_speculates(row), row.created_at, row.pk))


def _speculates(result: BenchmarkResult) -> bool:
    return any(run.get("speculation") for run in result.runs)


def runs_of(result: BenchmarkResult) -> tuple[BenchmarkRun, ...]:
    """The stored runs of a result."""
    return tuple(run_from_document(document) for document in result.runs)


def deployment_for(user: User, team: Team, name: str) -> Deployment | None:
    """The team's deployment of that name, if there is exactly one."""
    found = Deployment.objects.for_user(user).filter(team=team, name=name)
    rows = list(found.select_related("cluster")[:2])
    return rows[0] if len(rows) == 1 else None


def revision_of(deployment: Deployment, number: int) -> Revision | None:
    """One revision of a deployment."""
    return Revision.objects.filter(deployment=deployment, number=number).first()


def compare_page(results: Sequence[BenchmarkResult], missing: int = 0) -> ComparePage:
    """Put results side by side; the first one is what the others are compared with."""
    runs = [runs_of(result) for result in results]
    judged = tuple(
        _judged(result.name, runs[0], later)
        for result, later in zip(results[1:], runs[1:], strict=True)
    )
    tables = side_by_side(runs)
    return ComparePage(
        results=tuple(results),
        judged=judged,
        sections=tuple(_section(table) for table in tables),
        bars=bars_of([(one.name, one.comparison) for one in judged]),
        chunks=tuple(
            chunk
            for result, found in zip(results, runs, strict=True)
            if (chunk := _chunk(result.name, found))
        ),
        repeats=_repeats(
            results,
            runs,
            alike=all(one.comparison.comparable for one in judged),
        ),
        missing=missing,
    )


def _judged(
    name: str, first: Sequence[BenchmarkRun], later: Sequence[BenchmarkRun]
) -> Judged:
    comparison = compare(first, later)
    reasons = tuple(say(reason) for reason in comparison.why)
    return Judged(name=name, comparison=comparison, reasons=reasons)


def _section(table: LoadTable) -> LoadSection:
    load: Load = table.load
    rows: list[Row] = []
    for line in table.lines:
        name, unit, decimals = MEASURE_NAMES[line.measure]
        rows.append(
            Row(
                name=name,
                unit=unit,
                decimals=decimals,
                better=line.better.value,
                per_step=line.measure == "mean_itl_ms",
                cells=tuple(_shown(cell, unit) for cell in line.cells),
            )
        )
    return LoadSection(
        concurrency=load[0],
        rate=load[1],
        rows=tuple(rows),
        positions=tuple(_positions(runs) for runs in table.runs),
        repeats=tuple(len(runs) for runs in table.runs),
    )


def _shown(cell: Cell, unit: str) -> Shown:
    scale = 100 if unit == "%" else 1
    return Shown(
        value=None if cell.value is None else scale * cell.value,
        difference=None if cell.difference is None else 100 * cell.difference,
        change=cell.change.value,
    )


def _positions(runs: Sequence[BenchmarkRun]) -> tuple[float, ...] | None:
    """Acceptance by position of the first run that tells it."""
    told = (run.speculation.per_position for run in runs if run.speculation)
    return next((positions for positions in told if positions), None)


def _chunk(name: str, runs: Sequence[BenchmarkRun]) -> Chunk | None:
    """At the lowest load, and only where chunks hold clearly more than one token."""
    lowest = at_load(runs, loads(runs)[0])
    itl, tpot = measure(lowest, "mean_itl_ms"), measure(lowest, "mean_tpot_ms")
    if not itl or not tpot or itl < 1.1 * tpot:
        return None
    return Chunk(name=name, itl_ms=itl, tpot_ms=tpot, tokens=itl / tpot)


def _repeats(
    results: Sequence[BenchmarkResult],
    runs: Sequence[Sequence[BenchmarkRun]],
    *,
    alike: bool,
) -> tuple[Repeat, ...]:
    """One command for all results that may be compared, else one for each."""
    if alike:
        several = [run for found in runs for run in found]
        names = say(listed([result.name for result in results]))
        return (_repeat(names, several),)
    return tuple(
        _repeat(result.name, found) for result, found in zip(results, runs, strict=True)
    )


def _repeat(name: str, runs: Sequence[BenchmarkRun]) -> Repeat:
    run = completed(runs)
    others = [load[0] for load in loads(runs)[1:] if load[0] is not None]
    return Repeat(
        name=name,
        command=shlex.join(command(run)),
        untold=say(listed(untold(run))),
        others=say(listed([str(count) for count in others])),
    )

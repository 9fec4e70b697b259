"""Side by side: any results, load by load, and how each differs from the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from deployments.telemetry.benchmarks.loads import Load, at_load, loads
from deployments.telemetry.benchmarks.values import BenchmarkRun

NOTICEABLE = 0.01
"""Smaller differences are called the same."""


class Better(StrEnum):
    """Which way a measure is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Change(StrEnum):
    """What a difference means."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    OPEN = "open"


MEASURES: tuple[tuple[str, Better], ...] = (
    ("output_tokens_per_s", Better.HIGHER),
    ("requests_per_s", Better.HIGHER),
    ("mean_tpot_ms", Better.LOWER),
    ("mean_itl_ms", Better.NEITHER),
    ("mean_ttft_ms", Better.LOWER),
    ("p99_ttft_ms", Better.LOWER),
    ("mean_e2el_ms", Better.LOWER),
    ("failed", Better.LOWER),
    ("acceptance_rate", Better.NEITHER),
    ("mean_acceptance_length", Better.NEITHER),
    ("num_speculative_tokens", Better.NEITHER),
)
"""Rows of the table. Inter-token latency is counted per step and acceptance only while drafting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A measure of one result, the mean of its repeated runs; ``difference`` is a fraction."""

    value: float | None
    difference: float | None
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One measure of every result."""

    measure: str
    better: Better
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTable:
    """One load: ``runs`` of each result, empty where it has none; lines that somebody filled."""

    load: Load
    runs: tuple[tuple[BenchmarkRun, ...], ...]
    lines: tuple[Line, ...]


def side_by_side(results: Sequence[Sequence[BenchmarkRun]]) -> tuple[LoadTable, ...]:
    """Compare every result with the first one at each load that any of them has."""
    every = loads([run for runs in results for run in runs])
    return tuple(
        _table(load, tuple(tuple(at_load(runs, load)) for runs in results))
        for load in every
    )


def measure(runs: Sequence[BenchmarkRun], name: str) -> float | None:
    """The mean of a measure over the runs that know it."""
    known = [value for run in runs if (value := _value(run, name)) is not None]
    return fmean(known) if known else None


def _value(run: BenchmarkRun, name: str) -> float | None:
    owner: object = run
    if name in {"acceptance_rate", "mean_acceptance_length", "num_speculative_tokens"}:
        owner = run.speculation
    if name in run.percentiles:
        return run.percentiles[name]
    found = getattr(owner, name, None)
    return float(found) if isinstance(found, int | float) else None


def _table(load: Load, runs: tuple[tuple[BenchmarkRun, ...], ...]) -> LoadTable:
    lines = (_line(name, better, runs) for name, better in MEASURES)
    return LoadTable(
        load=load,
        runs=runs,
        lines=tuple(
            line for line in lines if any(cell.value is not None for cell in line.cells)
        ),
    )


def _line(
    name: str, better: Better, runs: tuple[tuple[BenchmarkRun, ...], ...]
) -> Line:
    values = [measure(of_one, name) for of_one in runs]
    return Line(
        measure=name,
        better=better,
        cells=tuple(_cell(values[0], value, better) for value in values),
    )


def _cell(first: float | None, value: float | None, better: Better) -> Cell:
    difference = value / first - 1 if first and value is not None else None
    return Cell(value=value, difference=difference, change=_change(difference, better))


def _change(difference: float | None, better: Better) -> Change:
    if difference is None or better is Better.NEITHER:
        return Change.OPEN
    if abs(difference) < NOTICEABLE:
        return Change.SAME
    is_better = (difference > 0) == (better is Better.HIGHER)
    return Change.BETTER if is_better else Change.WORSE

"""How far the model is from measurements, beside the formulas that it has to beat."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.speedup.fitting import fit, log_error
from benchmarks.speedup.rows import Measurement
from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.drafting import DrafterKind

PUBLISHED_TWO_CONSTANTS = (0.09, 0.32)
SMALLEST_SPLIT = 8
_SINGLE_PASS = (DrafterKind.PARALLEL,)

LogErrors = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Relative errors of so many rows; 0.1 is 10 %."""

    rows: int
    median: float
    ninety: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Rows that differ only in the number of draft tokens, and what choosing by the model cost."""

    name: str
    counts: tuple[int, ...]
    chosen: int
    regret: float


def errors_of(log_errors: Iterable[float]) -> Errors:
    """Return median and 90th percentile (linear between neighbours) of the relative errors."""
    sizes = sorted(abs(math.exp(value) - 1) for value in log_errors)
    return Errors(
        rows=len(sizes), median=quantile(sizes, 0.5), ninety=quantile(sizes, 0.9)
    )


def quantile(ordered: Sequence[float], part: float) -> float:
    """Return a quantile of sorted numbers, linear between neighbours."""
    place = part * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def shipped_errors(rows: Sequence[Measurement], constants: Constants) -> LogErrors:
    """Return ln(predicted / measured) of every row under given constants."""
    return {row.key: log_error(row, constants) for row in rows}


def left_out_errors(rows: Sequence[Measurement]) -> LogErrors:
    """Return the same with constants fitted without the row's own source."""
    found: LogErrors = {}
    for source in sorted({row.source for row in rows}):
        constants = fit([row for row in rows if row.source != source])
        own = [row for row in rows if row.source == source]
        found |= shipped_errors(own, constants)
    return {row.key: found[row.key] for row in rows}


def calibrated_errors(rows: Sequence[Measurement], errors: LogErrors) -> LogErrors:
    """Return the errors after each deployment's row of lowest load corrected its other rows."""
    found: LogErrors = {}
    for deployment in sorted({row.deployment for row in rows}):
        own = [row for row in rows if row.deployment == deployment]
        own.sort(key=lambda row: (row.sequences, row.count, row.key))
        for row in own[1:]:
            found[row.key] = errors[row.key] - errors[own[0].key]
    return found


def two_constants(row: Measurement, each: float, once: float) -> float:
    """Return S = L / (1 + passes x each + once): the simple formula to beat."""
    passes = 1 if row.drafting.kind in _SINGLE_PASS else row.count
    cost = 0.0 if row.drafting.looks_up else passes * each
    return row.length / (1 + cost + once)


def two_constant_errors(
    rows: Sequence[Measurement], each: float, once: float
) -> LogErrors:
    """Return the simple formula's ln(predicted / measured)."""
    return {
        row.key: math.log(two_constants(row, each, once) / row.speedup) for row in rows
    }


def left_out_two_constant_errors(rows: Sequence[Measurement]) -> LogErrors:
    """Return the simple formula's errors, its constants too fitted without the row's source."""
    found: LogErrors = {}
    for source in sorted({row.source for row in rows}):
        each, once = fit_two_constants([row for row in rows if row.source != source])
        own = [row for row in rows if row.source == source]
        found |= two_constant_errors(own, each, once)
    return found


def fit_two_constants(rows: Sequence[Measurement]) -> tuple[float, float]:
    """Return the pair with the least absolute log error, each source weighted by its root."""
    sizes = {
        source: sum(row.source == source for row in rows)
        for source in {row.source for row in rows}
    }

    def loss(pair: tuple[float, float]) -> float:
        found = two_constant_errors(rows, *pair)
        return sum(abs(found[row.key]) / math.sqrt(sizes[row.source]) for row in rows)

    grid = [(each / 100, once / 50) for each in range(25) for once in range(41)]
    return min(grid, key=loss)


def splits(
    rows: Sequence[Measurement],
    name: Callable[[Measurement], str],
    *measures: LogErrors,
) -> dict[str, tuple[Errors, ...]]:
    """Return the errors of each group of at least eight rows under each measure."""
    found = {}
    for group in sorted({name(row) for row in rows}):
        keys = [row.key for row in rows if name(row) == group]
        if len(keys) >= SMALLEST_SPLIT:
            found[group] = tuple(
                errors_of(measure[key] for key in keys) for measure in measures
            )
    return found


def sweeps(
    rows: Sequence[Measurement], predict: Callable[[Measurement], float]
) -> tuple[Sweep, ...]:
    """Return every sweep over the number of draft tokens, and the regret of the model's choice.

    Each point is predicted with its own measured acceptance length; the regret is the speed lost
    against the best measured point of the sweep.
    """
    found = []
    for name in sorted({row.sweep for row in rows}):
        own = [row for row in rows if row.sweep == name]
        if len({row.count for row in own}) < 2 or len(own) != len(
            {row.count for row in own}
        ):
            continue
        chosen = max(own, key=predict)
        best = max(row.speedup for row in own)
        found.append(
            Sweep(
                name=name,
                counts=tuple(sorted(row.count for row in own)),
                chosen=chosen.count,
                regret=1 - chosen.speedup / best,
            )
        )
    return tuple(found)

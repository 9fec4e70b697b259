"""Loads: how many requests a run kept in flight, or let arrive."""

from collections.abc import Iterable

from deployments.telemetry.benchmarks.values import UNLIMITED, BenchmarkRun

Load = tuple[int | None, float | None]
"""Maximum concurrency and requests per second; ``None`` is not limited."""

_LAST = 2.0**53


def load_of(run: BenchmarkRun) -> Load:
    """The load of a run; a table that names no rate means one without limit."""
    rate = run.request_rate
    return run.max_concurrency, None if rate == UNLIMITED or rate is None else float(
        rate
    )


def loads(runs: Iterable[BenchmarkRun]) -> list[Load]:
    """Every load, lowest first."""
    return sorted(
        {load_of(run) for run in runs},
        key=lambda load: (load[0] or _LAST, load[1] or _LAST),
    )


def at_load(runs: Iterable[BenchmarkRun], load: Load) -> list[BenchmarkRun]:
    """The runs at one load."""
    return [run for run in runs if load_of(run) == load]

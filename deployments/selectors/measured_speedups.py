"""Measured speed-ups: kept pairs of benchmarks as data that a speed model can be fitted to."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from deployments.models import BenchmarkResult, Device, User
from deployments.selectors.benchmarks import results_for, runs_of
from deployments.telemetry.benchmarks.loads import at_load
from deployments.telemetry.benchmarks.side_by_side import measure
from deployments.telemetry.benchmarks.values import BenchmarkRun
from deployments.telemetry.benchmarks.verdict import Level, compare

MOST_READ = 200

_NO_METHOD = frozenset({None, "", "auto", "off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSpeedup:
    """One load of one pair: output throughput with speculation over without.

    ``low`` to ``high`` is the 95 % interval, or an assumed spread when ``assumed``. ``method`` is
    that of the revision, ``device`` the one kind of device in the cluster; both are ``None``
    where that is not known. ``without`` and ``with_it`` are the ids of the results.
    """

    model: str
    device: str | None
    method: str | None
    num_speculative_tokens: int | None
    concurrency: int | None
    acceptance_rate: float | None
    mean_acceptance_length: float | None
    speedup: float
    low: float
    high: float
    assumed: bool
    without: uuid.UUID
    with_it: uuid.UUID
    measured_at: datetime


def measured_speedups(user: User) -> tuple[MeasuredSpeedup, ...]:
    """Compare each result with speculation with the newest one without it of its deployment.

    Only results that name their revision count, since the model is the revision's; pairs that
    must not be compared and pairs of random tokens are left out. Newest first.
    """
    rows = list(
        results_for(user)
        .filter(deployment__isnull=False, revision__isnull=False)
        .select_related("deployment__cluster")[:MOST_READ]
    )
    return speedups_of(rows, _devices({_cluster(row) for row in rows}))


def speedups_of(
    rows: Sequence[BenchmarkResult],
    devices: Mapping[uuid.UUID | None, str] | None = None,
) -> tuple[MeasuredSpeedup, ...]:
    """The same of these results, newest first; ``devices`` is the kind of device by cluster."""
    kinds = devices or {}
    by_deployment: dict[uuid.UUID | None, list[BenchmarkResult]] = defaultdict(list)
    for row in rows:
        by_deployment[row.deployment_id].append(row)
    found: list[MeasuredSpeedup] = []
    for several in by_deployment.values():
        runs = {row.pk: runs_of(row) for row in several}
        plain = [row for row in several if not any(r.speculation for r in runs[row.pk])]
        for row in several:
            if plain and row not in plain:
                found += _pair(plain[0], row, runs, kinds.get(_cluster(row)))
    return tuple(sorted(found, key=lambda one: one.measured_at, reverse=True))


def _pair(
    without: BenchmarkResult,
    with_it: BenchmarkResult,
    runs: dict[uuid.UUID, tuple[BenchmarkRun, ...]],
    device: str | None,
) -> list[MeasuredSpeedup]:
    comparison = compare(runs[without.pk], runs[with_it.pk])
    if not comparison.comparable or comparison.random_prompts:
        return []
    return [
        one
        for level in comparison.levels
        if (one := _speedup(level, without, with_it, runs[with_it.pk], device))
    ]


def _speedup(
    level: Level,
    without: BenchmarkResult,
    with_it: BenchmarkResult,
    runs: Sequence[BenchmarkRun],
    device: str | None,
) -> MeasuredSpeedup | None:
    if level.throughput is None or with_it.revision is None:
        return None
    spec = with_it.revision.document
    here = at_load(runs, level.load)
    method = (spec.get("speculation") or {}).get("method")
    count = measure(here, "num_speculative_tokens")
    return MeasuredSpeedup(
        model=str(spec.get("model", "")),
        device=device,
        method=None if method in _NO_METHOD else method,
        num_speculative_tokens=int(count) if count is not None else None,
        concurrency=level.max_concurrency,
        acceptance_rate=measure(here, "acceptance_rate"),
        mean_acceptance_length=measure(here, "mean_acceptance_length"),
        speedup=level.throughput.value,
        low=level.throughput.low,
        high=level.throughput.high,
        assumed=level.throughput.assumed,
        without=without.pk,
        with_it=with_it.pk,
        measured_at=with_it.created_at,
    )


def _cluster(row: BenchmarkResult) -> uuid.UUID | None:
    return row.deployment.cluster_id if row.deployment else None


def _devices(clusters: set[uuid.UUID | None]) -> dict[uuid.UUID | None, str]:
    """The kind of device of each cluster that has only one kind."""
    kinds: dict[uuid.UUID | None, set[str]] = defaultdict(set)
    pairs = Device.objects.filter(host__cluster__in=clusters - {None})
    for cluster, name in pairs.values_list("host__cluster", "name").distinct():
        kinds[cluster].add(name)
    return {key: names.pop() for key, names in kinds.items() if len(names) == 1}

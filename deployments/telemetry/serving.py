"""How an engine serves, from a scrape: latencies, requests in it, cache, tokens.

Names by release as vLLM exports them: ``time_per_output_token_seconds`` up to 0.11,
``request_time_per_output_token_seconds`` since 0.11 (the mean of each request),
``inter_token_latency_seconds`` since 0.10.2, which under speculation is time per step and not per
token; ``gpu_cache_usage_perc`` up to 0.10.2 and ``kv_cache_usage_perc`` since 0.9.2.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from deployments.telemetry.exposition import Point
from deployments.telemetry.prometheus import NO_ENGINE, points_of

OUTPUT_TOKEN_NAMES = (
    "request_time_per_output_token_seconds",
    "time_per_output_token_seconds",
    "inter_token_latency_seconds",
)
FIRST_TOKEN_NAME = "time_to_first_token_seconds"  # noqa: S105 - a series
CACHE_NAMES = ("kv_cache_usage_perc", "gpu_cache_usage_perc")
COUNTERS = {
    "generation_tokens": "generated",
    "prompt_tokens": "prompted",
    "request_success": "requests",
    "num_preemptions": "preemptions",
}
GAUGES = {"num_requests_running": "running", "num_requests_waiting": "waiting"}
FIRST, OUTPUT = "first", "output"
INFINITE = "+Inf"
MOST_BUCKETS = 200
_PROCESS_START = re.compile(
    r"^process_start_time_seconds\s+(\d[\d.]{0,20}(?:e[+-]?\d{1,3})?)\s*$",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(slots=True)
class EngineServing:
    """One engine: gauges are ``None`` where not exported; ``totals`` grow while it runs.

    ``totals`` holds tokens and requests by name, and each histogram as ``first:sum``,
    ``first:count`` and cumulative ``first:0.1``.
    """

    running: float | None = None
    waiting: float | None = None
    cache: float | None = None
    totals: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingReading:
    """A scrape: its engines, which series time per output token is from, when the process began."""

    engines: Mapping[str, EngineServing]
    output_from: str
    process_started: float | None


def read_serving(exposition: str) -> ServingReading:
    """Read how the engines of a scrape serve; other models on the same endpoint are added up."""
    points = [point for point in points_of(exposition) if point.backend == "vllm"]
    names = {point.name for point in points}
    output = next((name for name in OUTPUT_TOKEN_NAMES if f"{name}_count" in names), "")
    cache = next((name for name in CACHE_NAMES if name in names), "")
    histograms = {FIRST_TOKEN_NAME: FIRST}
    if output:
        histograms[output] = OUTPUT
    engines: dict[str, EngineServing] = {}
    for point in points:
        _take(engines, point, histograms, cache)
    started = _PROCESS_START.search(exposition)
    return ServingReading(
        engines=engines,
        output_from=output,
        process_started=float(started[1]) if started else None,
    )


def _take(
    engines: dict[str, EngineServing],
    point: Point,
    histograms: Mapping[str, str],
    cache: str,
) -> None:
    key = _key(point, histograms)
    gauge = GAUGES.get(point.name)
    if key is None and gauge is None and point.name != cache:
        return
    engine = engines.setdefault(point.labels.get("engine", NO_ENGINE), EngineServing())
    if key is not None:
        if key in engine.totals or len(engine.totals) < 2 * MOST_BUCKETS:
            engine.totals[key] = engine.totals.get(key, 0.0) + point.value
    elif gauge is not None:
        setattr(engine, gauge, (getattr(engine, gauge) or 0.0) + point.value)
    else:
        engine.cache = max(engine.cache or 0.0, min(point.value, 1.0))


def _key(point: Point, histograms: Mapping[str, str]) -> str | None:
    counter = COUNTERS.get(point.name.removesuffix("_total"))
    if counter is not None:
        return counter
    name, _, part = point.name.rpartition("_")
    histogram = histograms.get(name)
    if histogram is None:
        return None
    if part in {"sum", "count"}:
        return f"{histogram}:{part}"
    bound = point.labels.get("le", "")
    if part != "bucket" or not bound:
        return None
    return f"{histogram}:{bound}" if _bound(bound) is not None else None


def _bound(written: str) -> float | None:
    try:
        value = float(written)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def grown(
    now: Mapping[str, float], before: Mapping[str, float], *, anew: bool
) -> dict[str, float]:
    """What was added to the totals; a process that began anew has only what it says now."""
    if anew:
        return dict(now)
    return {key: max(0.0, value - before.get(key, 0.0)) for key, value in now.items()}


def fell(now: Mapping[str, float], before: Mapping[str, float]) -> bool:
    """Whether a total is smaller than it was."""
    return any(value < before.get(key, 0.0) for key, value in now.items())


@dataclass(slots=True)
class Histogram:
    """Observations by upper bound, each in one bucket; ``sum`` in seconds."""

    sum: float = 0.0
    count: int = 0
    le: dict[str, int] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, object]:
        """The form in which rows keep it."""
        return {"sum": round(self.sum, 6), "count": self.count, "le": self.le}

    @property
    def mean(self) -> float | None:
        """Seconds; ``None`` when nothing was observed."""
        return self.sum / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """Seconds below which ``share`` of the observations lie, interpolated in its bucket.

        Beyond the largest finite bound that bound is all that is known.
        """
        bounds = sorted(
            (bound, count)
            for written, count in self.le.items()
            if (bound := _bound(written)) is not None and count > 0
        )
        total = sum(count for _, count in bounds)
        if not total:
            return None
        all_bounds = sorted(
            bound for written in self.le if (bound := _bound(written)) is not None
        )
        wanted, before = share * total, 0
        for bound, count in bounds:
            if before + count < wanted:
                before += count
                continue
            place = all_bounds.index(bound)
            lower = all_bounds[place - 1] if place else 0.0
            if math.isinf(bound):
                return lower if place else None
            return lower + (bound - lower) * (wanted - before) / count
        return None


def histogram_of(totals: Mapping[str, float], kind: str) -> Histogram:
    """The histogram among grown totals, its cumulative buckets taken apart."""
    prefix = f"{kind}:"
    bounds = sorted(
        (bound, key.removeprefix(prefix))
        for key in totals
        if key.startswith(prefix)
        and (bound := _bound(key.removeprefix(prefix))) is not None
    )
    le: dict[str, int] = {}
    before = 0
    for _, written in bounds:
        upto = int(totals[prefix + written])
        le[written] = max(0, upto - before)
        before = max(before, upto)
    return Histogram(
        sum=totals.get(f"{kind}:sum", 0.0),
        count=int(totals.get(f"{kind}:count", 0.0)),
        le=le,
    )


def histogram_from(document: Mapping[str, object]) -> Histogram:
    """What a row keeps, as a histogram."""
    buckets = document.get("le")
    total, count = document.get("sum", 0.0), document.get("count", 0)
    return Histogram(
        sum=float(total) if isinstance(total, int | float) else 0.0,
        count=int(count) if isinstance(count, int | float) else 0,
        le=dict(buckets) if isinstance(buckets, dict) else {},
    )


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """Add histograms up, bucket by bucket."""
    result = Histogram()
    for one in histograms:
        result.sum += one.sum
        result.count += one.count
        for bound, count in one.le.items():
            result.le[bound] = result.le.get(bound, 0) + count
    return result

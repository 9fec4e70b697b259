"""Documents: runs and comparisons as JSON, the way the command line and downloads show them."""

from dataclasses import asdict
from typing import Any

from deployments.telemetry.benchmarks.intervals import Ratio
from deployments.telemetry.benchmarks.values import BenchmarkRun, RunSpeculation
from deployments.telemetry.benchmarks.verdict import Comparison

Document = dict[str, Any]


def run_document(run: BenchmarkRun) -> Document:
    """A run as JSON; unknown is ``null``."""
    return asdict(run)


def run_from_document(document: Document) -> BenchmarkRun:
    """The run that ``run_document`` wrote.

    Raises:
        TypeError: the document is of another shape.
    """
    spoken = document.get("speculation")
    if spoken is not None:
        positions = spoken["per_position"]
        spoken = RunSpeculation(
            **spoken | {"per_position": tuple(positions) if positions else None}
        )
    return BenchmarkRun(**document | {"speculation": spoken})


def comparison_document(comparison: Comparison) -> Document:
    """A comparison as JSON; reasons are English sentences."""
    return {
        "comparable": comparison.comparable,
        "throughput_ratio": comparison.throughput_ratio,
        "request_throughput_ratio": comparison.request_throughput_ratio,
        "tpot_ratio": comparison.tpot_ratio,
        "verdict": comparison.verdict.value,
        "why": [str(reason) for reason in comparison.why],
        "keep_up_to": comparison.keep_up_to,
        "levels": [
            {
                "max_concurrency": level.max_concurrency,
                "request_rate": level.request_rate,
                "throughput": _ratio(level.throughput),
                "request_throughput": _ratio(level.requests),
                "tpot": _ratio(level.tpot),
                "verdict": level.verdict.value,
            }
            for level in comparison.levels
        ],
    }


def _ratio(measured: Ratio | None) -> Document | None:
    return asdict(measured) if measured else None

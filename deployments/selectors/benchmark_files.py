"""Benchmark results as files: JSON with the comparison, and rows for a spreadsheet."""

from collections.abc import Sequence
from typing import Any

from deployments.models import BenchmarkResult
from deployments.selectors.benchmarks import runs_of
from deployments.selectors.tables.file import harmless
from deployments.telemetry.benchmarks.documents import comparison_document
from deployments.telemetry.benchmarks.verdict import compare

COLUMNS = (
    "model",
    "backend",
    "max_concurrency",
    "request_rate",
    "num_prompts",
    "completed",
    "failed",
    "duration_s",
    "input_tokens",
    "generated_tokens",
    "output_tokens_per_s",
    "requests_per_s",
    "mean_ttft_ms",
    "mean_tpot_ms",
    "mean_itl_ms",
    "mean_e2el_ms",
)
SPECULATION = (
    "acceptance_rate",
    "mean_acceptance_length",
    "num_drafts",
    "drafted",
    "accepted",
    "num_speculative_tokens",
)


def compared_document(results: Sequence[BenchmarkResult]) -> dict[str, Any]:
    """Every result with its runs; comparisons are each with the first."""
    runs = [runs_of(result) for result in results]
    return {
        "results": [
            {
                "id": str(result.pk),
                "name": result.name,
                "kept_at": result.created_at.isoformat(),
                "deployment": result.deployment.name if result.deployment else None,
                "revision": result.revision.number if result.revision else None,
                "runs": result.runs,
            }
            for result in results
        ],
        "comparisons": [
            {
                "result": str(result.pk),
                **comparison_document(compare(runs[0], later)),
            }
            for result, later in zip(results[1:], runs[1:], strict=True)
        ],
    }


def run_rows(results: Sequence[BenchmarkResult]) -> list[list[str]]:
    """A heading and a row for each run; unknown is an empty cell."""
    rows = [["result", "run", *COLUMNS, *SPECULATION]]
    for result in results:
        for number, run in enumerate(result.runs, start=1):
            speculation = run["speculation"] or {}
            rows.append(
                [
                    harmless(result.name),
                    str(number),
                    *(_cell(run[name]) for name in COLUMNS),
                    *(_cell(speculation.get(name)) for name in SPECULATION),
                ]
            )
    return rows


def _cell(value: object) -> str:
    return "" if value is None else harmless(str(value))

"""``manage.py read_benchmark FILE [FILE2]``: benchmark results, or the verdict on a pair."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.management.input_files import UNUSABLE_INPUT, read_input
from deployments.telemetry.benchmarks.documents import comparison_document, run_document
from deployments.telemetry.benchmarks.errors import BenchmarkError
from deployments.telemetry.benchmarks.reader import read_benchmark
from deployments.telemetry.benchmarks.values import BenchmarkRun
from deployments.telemetry.benchmarks.verdict import Comparison, compare


class Command(BaseCommand):
    """Print the runs of a result, and with a second file what speculation changed."""

    help = "A benchmark result, or the verdict on a pair: without and with speculation."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one file or two, and the form of the answer."""
        parser.add_argument("file", help="a result, or - for standard input")
        parser.add_argument(
            "file2", nargs="?", help="the same benchmark with speculation"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read and answer; exit code 1 when the pair must not be compared."""
        first, second = options["file"], options["file2"]
        if first == "-" and second == "-":
            raise CommandError(
                "Only one of the two results can come from standard input: name a file for the other.",
                returncode=UNUSABLE_INPUT,
            )
        off = _runs(first)
        on = _runs(second) if second else ()
        comparison = compare(off, on) if second else None
        if options["json"]:
            document = {
                "runs": [run_document(run) for run in (*off, *on)],
                "comparison": comparison_document(comparison) if comparison else None,
            }
            self.stdout.write(json.dumps(document, allow_nan=False))
        else:
            self.stdout.write("\n".join(_sentences(off, on, comparison)))
        if comparison and not comparison.comparable:
            raise SystemExit(1)


def _runs(name: str) -> tuple[BenchmarkRun, ...]:
    try:
        return read_benchmark(read_input(name))
    except BenchmarkError as error:
        raise CommandError(f"{name}: {error}", returncode=UNUSABLE_INPUT) from error


def _sentences(
    off: tuple[BenchmarkRun, ...],
    on: tuple[BenchmarkRun, ...],
    comparison: Comparison | None,
) -> list[str]:
    lines = [_line(run) for run in (*off, *on)]
    if comparison is None:
        return lines
    return [*lines, f"Verdict: {comparison.verdict}.", *comparison.why]


def _line(run: BenchmarkRun) -> str:
    concurrency = run.max_concurrency or "not limited"
    said = (
        f"Concurrency {concurrency}: {_known(run.output_tokens_per_s)} output tokens/s, "
        f"{_known(run.requests_per_s)} requests/s, time per output token {_known(run.mean_tpot_ms)} ms, "
        f"inter-token latency {_known(run.mean_itl_ms)} ms, "
        f"time to first token {_known(run.mean_ttft_ms)} ms."
    )
    if run.speculation is None:
        return f"{said} No figures of speculation."
    rate = run.speculation.acceptance_rate
    shown = "unknown" if rate is None else f"{rate:.1%}"
    return (
        f"{said} Acceptance rate {shown}, mean acceptance length "
        f"{_known(run.speculation.mean_acceptance_length)}."
    )


def _known(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"

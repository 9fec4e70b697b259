"""``manage.py read_metrics FILE``: speculative counters in a Prometheus scrape."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from deployments.management.input_files import read_input
from deployments.telemetry.prometheus import MetricsReading, read_metrics


class Command(BaseCommand):
    """Print the speculative counters of a scrape."""

    help = "Speculative counters in a Prometheus scrape."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a file and the form of the answer."""
        parser.add_argument("file", help="a scrape, or - for standard input")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read and answer; exit code 1 when the counters contradict each other."""
        text = read_input(options["file"]).decode("utf-8", "replace")
        reading = read_metrics(text)
        if options["json"]:
            self.stdout.write(json.dumps(asdict(reading), allow_nan=False))
        else:
            self.stdout.write("\n".join(_sentences(reading)))
        if reading.consistent is False:
            raise SystemExit(1)


def _sentences(reading: MetricsReading) -> list[str]:
    if reading.backend is None and not reading.speculation and reading.notes:
        return list(map(str, reading.notes))
    if not reading.speculation:
        return [
            "No speculative counters: speculation is off, or statistics are.",
            *reading.notes,
        ]
    lines = [
        f"Engine {key}: {_known(engine.accepted)} of {_known(engine.drafted)} drafted tokens "
        f"accepted in {_known(engine.num_drafts)} drafts."
        for key, engine in reading.engines.items()
    ]
    if reading.totals and reading.totals.acceptance_rate is not None:
        lines.append(f"Acceptance rate {reading.totals.acceptance_rate:.1%}.")
    return [*lines, *reading.notes]


def _known(value: int | None) -> str:
    return "an unknown number" if value is None else str(value)

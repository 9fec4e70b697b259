"""``manage.py read_log FILE``: what a log says about speculation."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from deployments.management.input_files import read_input_blocks
from deployments.telemetry.diagnosis import DiagnosisSeverity
from deployments.telemetry.logs.reader import LogReading, read_blocks


class Command(BaseCommand):
    """Print acceptance records, start-up facts and diagnoses of a log."""

    help = "Acceptance records, start-up facts and diagnoses in a log."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a file and the form of the answer."""
        parser.add_argument("file", help="a log file, or - for standard input")
        parser.add_argument("--platform", help="cuda, rocm, xpu, ascend or a platform")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read and answer; exit code 1 when a critical diagnosis was made."""
        reading = read_blocks(read_input_blocks(options["file"]))
        if options["json"]:
            for piece in _document(reading):
                self.stdout.write(piece, ending="")
            self.stdout.write("")
        else:
            self.stdout.write("\n".join(_sentences(reading)))
        if any(
            diagnosis.severity is DiagnosisSeverity.CRITICAL
            for diagnosis in reading.diagnoses
        ):
            raise SystemExit(1)


def _document(reading: LogReading) -> Iterator[str]:
    """One JSON object in pieces: a large log has more records than should be text at once."""
    document = asdict(replace(reading, records=()))
    document["record_count"] = len(reading.records)
    del document["records"]
    yield f'{json.dumps(document, allow_nan=False)[:-1]}, "records": ['
    for place, record in enumerate(reading.records):
        comma = ", " if place else ""
        yield f"{comma}{json.dumps(asdict(record), allow_nan=False)}"
    yield "]}"


def _sentences(reading: LogReading) -> list[str]:
    facts = reading.startup
    lines = [f"Backend: {reading.backend or 'not recognised'}."]
    if facts.speculation:
        lines.append(
            f"Speculation is on: method {facts.method}, num_speculative_tokens "
            f"{facts.num_speculative_tokens}."
        )
    elif facts.speculation is False:
        lines.append("Speculation is off.")
    totals = reading.totals
    if totals.acceptance_rate is not None:
        lines.append(
            f"{len(reading.records)} records: {totals.accepted} of {totals.drafted} drafted "
            f"tokens accepted ({totals.acceptance_rate:.1%})."
        )
    else:
        lines.append(f"{len(reading.records)} records.")
    lines += [
        f"{diagnosis.severity}: {diagnosis.code}, line {diagnosis.line}: {diagnosis.cause} "
        f"{diagnosis.fix}"
        for diagnosis in reading.diagnoses
    ]
    if reading.advice:
        lines += [statement.text for statement in reading.advice.statements]
    return lines

"""``manage.py lint_launch FILE``: is this command, script, ``docker run`` line or compose file right?"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.management.input_files import UNUSABLE_INPUT, read_input
from deployments.planning.catalog import parse_target_model
from deployments.planning.container import ContainerSpec
from deployments.planning.engines.profile import VLLM, EngineProfile
from deployments.planning.errors import PlanningError
from deployments.planning.importing.restated import (
    open_variables,
    restated_containers,
)
from deployments.planning.launch.command import readable_command
from deployments.planning.launch.compose import compose_file
from deployments.planning.launch.script import launch_script
from deployments.planning.rules.launch.fixer import diff_of, fixed_text
from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.lint import LintReport, lint
from deployments.planning.rules.launch.settings import LintSettings
from deployments.selectors.engine_profiles import own_profiles_if_any
from deployments.services.catalog import shipped_documents
from deployments.telemetry.logs.reader import read_log


def _commands(specs: Sequence[ContainerSpec]) -> str:
    return "".join(f"{readable_command(one.command)}\n" for one in specs)


FORMS: dict[str, Callable[[Sequence[ContainerSpec]], str]] = {
    "command": _commands,
    "compose": compose_file,
    "script": launch_script,
}


class Command(BaseCommand):
    """Print the verdict on an existing launch, its findings, and on request the corrected input."""

    help = "The verdict on a vllm command, script, docker run line or compose file."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a file, what is known about the engine, and the form of the answer."""
        parser.add_argument("file", help="a file, or - for standard input")
        parser.add_argument("--platform", help="cuda, rocm, xpu, ascend or a platform")
        parser.add_argument("--engine", help="vllm or vllm-ascend")
        parser.add_argument(
            "--engine-version",
            help="0.32.0, 0.23.0rc1, 0.20.x, ... or a range: >=0.20.0",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--fix",
            action="store_true",
            help="write the corrected input in its place (- writes it to standard output)",
        )

        parser.add_argument(
            "--as",
            dest="form",
            choices=tuple(FORMS),
            help="print the launch in another form instead of the verdict",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Judge and answer; exit code 1 when a finding is an error."""
        try:
            chosen = LintSettings(
                platform=options["platform"],
                engine=options["engine"],
                engine_version=options["engine_version"],
                own=_own(options["engine"], options["engine_version"]),
            ).checked()
            report = lint(read_input(options["file"]), chosen, _catalog())
        except PlanningError as error:
            raise CommandError(str(error), returncode=UNUSABLE_INPUT) from error
        if options["form"]:
            self._restate(report, options["form"])
        elif options["fix"]:
            self._fix(report, options)
        elif options["json"]:
            self.stdout.write(json.dumps(_document(report), allow_nan=False))
        else:
            self.stdout.write("\n".join(_sentences(report)))
        if report.verdict == "reject":
            raise SystemExit(1)

    def _restate(self, report: LintReport, form: str) -> None:
        launches = report.source.launches
        if not launches:
            raise CommandError(
                "The input starts no server; there is nothing to write in another form.",
                returncode=UNUSABLE_INPUT,
            )
        self.stdout.write(FORMS[form](restated_containers(launches)), ending="")
        names = sorted({name for one in launches for name in open_variables(one)})
        if names:
            listed = ", ".join(names)
            self.stderr.write(
                f"A container does not expand {listed}; write the values themselves."
            )

    def _fix(self, report: LintReport, options: dict[str, Any]) -> None:
        name = options["file"]
        before = report.source.text
        after = fixed_text(report.source, report.findings)
        diff = diff_of(before, after, name)
        if name != "-" and after != before:
            try:
                Path(name).write_text(after, encoding="utf-8")
            except OSError as error:
                raise CommandError(
                    f"The file {name!r} cannot be written: {error.strerror}.",
                    returncode=UNUSABLE_INPUT,
                ) from error
        if options["json"]:
            document = {**_document(report), "fixed": {"text": after, "diff": diff}}
            self.stdout.write(json.dumps(document, allow_nan=False))
        elif name == "-":
            self.stdout.write(after, ending="")
            self.stderr.write(diff)
        else:
            self.stdout.write(diff or "Nothing can be corrected mechanically.")


def _catalog() -> KnownModels:
    return KnownModels(tuple(parse_target_model(one) for one in shipped_documents()))


def _document(report: LintReport) -> dict[str, Any]:
    return {**report.document, "diagnoses": _diagnoses(report)}


def _diagnoses(report: LintReport) -> list[dict[str, Any]]:
    output = report.source.output
    if not output:
        return []
    offset = report.source.output_line
    return [
        {**asdict(one), "line": one.line + offset}
        for one in read_log(output.encode("utf-8", "replace")).diagnoses
    ]


def _sentences(report: LintReport) -> list[str]:
    lines = [f"Verdict: {report.verdict}."]
    for one in report.source.launches:
        speculation = one.speculation
        drafting = (
            f"drafts {speculation.num_speculative_tokens or 'an unknown number of'} tokens with "
            f"{speculation.method or 'an unknown method'}"
            if speculation
            else "drafts nothing"
        )
        lines.append(
            f"{one.program} {one.model or '(no model)'}: {drafting}; needs {one.devices_required} "
            "devices."
        )
    for finding in report.findings:
        place = f", line {finding.line}" if finding.line else ""
        lines.append(
            f"{finding.severity.value}: {finding.code}{place}: {finding.message} {finding.fix}"
        )
        if finding.correction:
            lines.append(f"  corrected: {finding.correction}")
    lines += [
        f"{one['severity']}: {one['code']}: {one['cause']} {one['fix']}"
        for one in _diagnoses(report)
    ]
    return lines


def _own(engine: str | None, version: str | None) -> tuple[EngineProfile, ...]:
    """The profile that somebody made of a version with a local part; the only read of tables."""
    return own_profiles_if_any(f"{engine or VLLM}=={version}" if version else None)

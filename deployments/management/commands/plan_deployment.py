"""``manage.py plan_deployment``: a plan for a deployment spec, without registered hosts."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.management.model_files import (
    ModelFiles,
    asked_answer,
    asked_lines,
    with_root,
)
from deployments.planning.answers import plan_answer
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.errors import PlanningError
from deployments.planning.launch.command import readable_command
from deployments.planning.launch.files import launch_files
from deployments.planning.model_config.reading import Open
from deployments.planning.plan import Plan, RoleMemory
from deployments.planning.planner import make_plan
from deployments.planning.spec_text import read_document_text
from deployments.selectors.engine_profiles import own_profiles_if_any

UNUSABLE = 2
LARGEST_SPEC = 256 << 10


class Command(BaseCommand):
    """Plan a deployment spec and print or write what would run."""

    help = "Plan a deployment spec; needs no registered host and no database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("spec", help="YAML file, or - for standard input")
        parser.add_argument(
            "--output", help="write one folder per host into this directory"
        )
        parser.add_argument(
            "--config-json",
            metavar="FILE",
            help="config.json of the spec's model, which may then be a path",
        )
        parser.add_argument(
            "--index-json",
            "--weights-index",
            metavar="FILE",
            help="model.safetensors.index.json of the spec's checkpoint: exact size, MTP tensors",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Plan, print, write; exit 1 with error findings, 2 for unusable input."""
        try:
            files = ModelFiles(options["config_json"], options["index_json"])
            plan, asked = _plan(_text(options["spec"]), files)
        except PlanningError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["output"]:
            _write(plan, Path(options["output"]))
        if options["json"]:
            answer = {**plan_answer(plan), "asked": asked_answer(asked)}
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
        else:
            self.stdout.write("\n".join((*asked_lines(asked), _summary(plan))))
        if not plan.can_submit:
            sys.exit(1)


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise PlanningError(
            f"The spec {name} cannot be read: {error.strerror}."
        ) from error
    if len(data) > LARGEST_SPEC:
        raise PlanningError(f"The spec is larger than {LARGEST_SPEC} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise PlanningError("The spec is not UTF-8 text.") from error


def _plan(text: str, files: ModelFiles) -> tuple[Plan, tuple[Open, ...]]:
    spec, hosts, settings = parse_deployment_spec(read_document_text(text))
    model, asked = files.target(spec.model, spec.checkpoint)
    rooted, engines = with_root(hosts, spec.model), own_profiles_if_any(spec.engine)
    return make_plan(spec, model, rooted, settings, engines), asked


def _memory(memory: RoleMemory) -> str:
    words = {True: "fits", False: "does not fit", None: "unknown whether it fits"}
    sizes = ", ".join(
        f"{part.kind} {_gib(part.size_bytes)} ({part.basis.value})"
        for part in memory.parts
    )
    return (
        f"memory of one {memory.role.value} device: {words[memory.fits]}; {sizes}; left for the KV "
        f"cache {_gib(memory.kv_bytes)}, {memory.kv_tokens} tokens"
    )


def _gib(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 2**30:.1f} GiB"


def _write(plan: Plan, folder: Path) -> None:
    try:
        for path, text in launch_files(plan):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            if target.suffix == ".sh":
                target.chmod(0o755)
    except OSError as error:
        raise CommandError(
            f"The files cannot be written to {folder}: {error.strerror}.",
            returncode=UNUSABLE,
        ) from error


def _summary(plan: Plan) -> str:
    decision = plan.decision
    lines = [
        f"{plan.deployment}: {plan.model} ({plan.checkpoint}) on {plan.engine} {plan.engine_version}"
    ]
    lines += [
        f"  {step.question} {step.answer}: {step.because}" for step in decision.path
    ]
    drafted = decision.num_speculative_tokens
    lines.append(
        f"Method: {decision.method}" + (f", {drafted} tokens" if drafted else "")
    )
    for replica in plan.replicas:
        devices = ",".join(map(str, replica.devices)) or "none"
        rank = f"{replica.rank}, the canary," if replica.canary else replica.rank
        lines += [
            "",
            f"{replica.role.value} {rank} on {replica.host}, devices {devices}:",
            readable_command(replica.container.command),
        ]
    lines += ["", *(_memory(one) for one in plan.memory)]
    if plan.gain is not None:
        lines.append(f"{plan.gain.sentence} {plan.gain.source}")
    lines += [
        "",
        *(f"{one.severity.value}: {one.message} {one.fix}" for one in plan.findings),
    ]
    lines.append(f"Digest {plan.digest}")
    return "\n".join(lines)

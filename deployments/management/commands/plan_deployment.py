"""``manage.py plan_deployment``: a plan for a deployment spec, without registered hosts."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from deployments.planning.answers import plan_answer
from deployments.planning.canonical import Json
from deployments.planning.catalog import find_target_model
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.errors import PlanningError
from deployments.planning.launch.command import readable_command
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan, RoleMemory
from deployments.planning.planner import make_plan
from deployments.planning.sizing.index import total_size, with_size
from deployments.services.catalog import shipped_documents

UNUSABLE = 2
LARGEST_SPEC = 256 << 10


class StrictLoader(yaml.SafeLoader):
    """YAML without surprises: duplicate keys and aliases are refused, decimals stay text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases, which can blow a small file up."""
        if self.check_event(yaml.AliasEvent):
            raise PlanningError("The spec uses a YAML alias; write the value out.")
        return super().compose_node(parent, index)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - PyYAML's own
    ) -> dict[Any, Any]:
        """Build a mapping, refusing a key that comes twice."""
        keys = [key.value for key, _value in node.value]
        for key in keys:
            if keys.count(key) > 1:
                line = node.start_mark.line + 1
                raise PlanningError(
                    f"The key {key!r} comes twice in the block at line {line}."
                )
        return super().construct_mapping(node, deep=deep)


def _decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


for _tag in ("float", "timestamp"):
    StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _decimal)


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
            "--weights-index",
            metavar="FILE",
            help="model.safetensors.index.json of the spec's checkpoint, for its exact size",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Plan, print, write; exit 1 with error findings, 2 for unusable input."""
        try:
            plan = _plan(_text(options["spec"]), options["weights_index"])
        except PlanningError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["output"]:
            _write(plan, Path(options["output"]))
        if options["json"]:
            self.stdout.write(json.dumps(plan_answer(plan), ensure_ascii=False))
        else:
            self.stdout.write(_summary(plan))
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


def _document(text: str) -> Json:
    loader = StrictLoader(text)
    try:
        document: Json = loader.get_single_data()
    except PlanningError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise PlanningError(f"The spec cannot be read{place}: {problem}.") from error
    except (RecursionError, ValueError) as error:
        raise PlanningError(
            "The spec cannot be read: a value is out of range."
        ) from error
    finally:
        loader.dispose()
    return document


def _plan(text: str, weights_index: str | None) -> Plan:
    spec, hosts, settings = parse_deployment_spec(_document(text))
    model = find_target_model(shipped_documents(), spec.model)
    if weights_index is not None:
        if spec.checkpoint is None:
            raise PlanningError(
                "--weights-index needs a spec that names its checkpoint."
            )
        model = with_size(model, spec.checkpoint, _size(Path(weights_index)))
    return make_plan(spec, model, hosts, settings)


def _size(index: Path) -> int:
    try:
        document: Json = json.loads(index.read_bytes())
    except (OSError, ValueError) as error:
        raise PlanningError(f"The weights' index {index} cannot be read.") from error
    return total_size(document)


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
        lines += [
            "",
            f"{replica.role.value} {replica.rank} on {replica.host}, devices {devices}:",
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

"""``manage.py show_engine_profile``: what a version of an engine accepts."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.management.input_files import read_input
from deployments.planning.canonical import Json
from deployments.planning.engines.profile import (
    EngineProfile,
    parse_engine_profile,
    profile_document,
)
from deployments.planning.engines.resolution import Fit, resolve_version
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text
from deployments.selectors.engine_profiles import own_profiles_if_any

UNUSABLE = 2


class Command(BaseCommand):
    """Show one engine profile: one that ships, one that people made, or one in a file."""

    help = "Show the flags, keys, methods and metrics that an engine version accepts."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("engine", help="vllm or vllm-ascend")
        parser.add_argument("version", help="0.32.0, 0.20.x, 0.32.0+acme")
        parser.add_argument("--file", help="profile that profile_engine wrote instead")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Find and print; exit 2 for an engine or version that cannot be read."""
        try:
            if options["file"]:
                profile, fit, note = _of_file(options["file"]), "exact", None
            else:
                profile, fit, note = _of_version(options["engine"], options["version"])
        except PlanningError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["json"]:
            self.stdout.write(json.dumps(_answer(profile, fit, note)))
        else:
            self.stdout.write(_summary(profile, note))


def _of_version(engine: str, version: str) -> tuple[EngineProfile, str, Text | None]:
    """The profile that somebody made of a version with a local part, else the shipped one."""
    for profile in own_profiles_if_any(f"{engine}=={version}"):
        return profile, Fit.EXACT.value, None
    found = resolve_version(engine, version)
    return found.profile, found.fit.value, found.note


def _of_file(name: str) -> EngineProfile:
    try:
        document = json.loads(read_input(name))
    except ValueError as error:
        raise PlanningError(f"{Path(name).name} holds no JSON.") from error
    return parse_engine_profile(document)


def _answer(profile: EngineProfile, fit: str, note: Text | None) -> dict[str, Json]:
    """The contract's keys, then the profile in full."""
    flags: list[Json] = [name for flag in profile.arguments for name in flag.names]
    return {
        **profile_document(profile),
        "engine": profile.engine,
        "version": profile.version,
        "fit": fit,
        "note": None if note is None else str(note),
        "flags": flags,
        "speculative_keys": list(profile.speculative_keys),
        "methods": [
            one.name for one in profile.spellings if one.runs and not one.deprecated
        ],
        "deprecated_methods": [
            one.name for one in profile.spellings if one.runs and one.deprecated
        ],
        "refused_methods": [one.name for one in profile.spellings if not one.runs],
        "unknown_keys": profile.unknown_keys.value,
    }


def _summary(profile: EngineProfile, note: Text | None) -> str:
    answer = _answer(profile, "", note)
    entrypoint = profile.entrypoint
    lines = [
        *([str(note)] if note else []),
        f"{profile.name} (vLLM {profile.vllm_version}); source: {profile.source}",
        "Entrypoint of the official image: "
        + ("not known" if entrypoint is None else " ".join(entrypoint) or "none"),
        f"Unknown keys of the speculative config: {profile.unknown_keys.value}",
    ]
    for label in ("methods", "deprecated_methods", "speculative_keys", "flags"):
        listed = answer[label]
        names = listed if isinstance(listed, list) else []
        title = label.replace("_", " ").capitalize()
        lines.append(f"{title} ({len(names)}): {', '.join(map(str, names))}")
    metrics = ", ".join(metric.name for metric in profile.metrics if not metric.hidden)
    lines.append(f"Metrics: {metrics}")
    return "\n".join(lines)

"""``manage.py profile_engine``: what a wheel, a source archive or an image of an engine accepts."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.planning.engines.changes import change_lines, profile_changes
from deployments.planning.engines.profile import EngineProfile, profile_document
from deployments.planning.engines.resolution import resolve_version
from deployments.services.engine_profiles import (
    forget_profile,
    keep_profile,
    profile_of_archive,
    profile_of_image,
    ship_profile,
)
from deployments.services.errors import UseCaseError

UNUSABLE = 2


class Command(BaseCommand):
    """Read the profile of an engine statically; nothing of the engine is imported."""

    help = "Read what a wheel, source archive or image of vLLM or vllm-ascend accepts."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--wheel", help="wheel or source archive (.whl, .tar.gz)")
        source.add_argument(
            "--forget", metavar="NAME", help="remove an own profile, vllm==0.32.0+acme"
        )
        source.add_argument("--image", help="reference of an image that a host has")
        parser.add_argument("--host", default="local", help="name of a registered host")
        parser.add_argument(
            "--engine-version", help="the version, where the files do not name it"
        )
        parser.add_argument("--output", help="file to write the profile to, as JSON")
        parser.add_argument(
            "--ship", action="store_true", help="add it to the profiles of this panel"
        )
        parser.add_argument(
            "--keep",
            metavar="LOCAL",
            help="keep it in the panel as <version>+LOCAL, for plans and the linter",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read, write and print; exit 2 for what cannot be read."""
        try:
            if options["forget"]:
                forget_profile(options["forget"])
                self.stdout.write(f"{options['forget']} is removed.")
                return
            profile = (
                profile_of_archive(Path(options["wheel"]), options["engine_version"])
                if options["wheel"]
                else profile_of_image(
                    options["image"], options["host"], options["engine_version"]
                )
            )
            kept = keep_profile(profile, options["keep"]) if options["keep"] else None
        except UseCaseError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        text = json.dumps(profile_document(profile), ensure_ascii=False)
        if options["output"]:
            _write(Path(options["output"]), text)
        if options["ship"]:
            ship_profile(profile)
        if kept is not None:
            self.stderr.write(f"Kept as {kept.name}.")
        self.stdout.write(text if options["json"] else _summary(profile))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(
            f"The file {str(path)!r} cannot be written: {error.strerror}.",
            returncode=UNUSABLE,
        ) from error


def _summary(profile: EngineProfile) -> str:
    known = resolve_version(profile.engine, profile.version)
    changes = profile_changes(known.profile, profile)
    lines = [
        f"{profile.name} (vLLM {profile.vllm_version}) from {profile.source}",
        f"Flags: {len(profile.arguments)}",
        f"Keys of the speculative config: {len(profile.keys)}",
        f"Metrics: {len(profile.metrics)}",
        f"Methods: {', '.join(profile.methods)}",
        f"Compared with the shipped profile {known.profile.name}:",
        *(f"  {line}" for line in change_lines(changes) or ["no difference"]),
    ]
    return "\n".join(lines)

"""``manage.py build_vllm_image``: a real vLLM for the CPU, for trying everything without a GPU."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.services.image_builds import ImageBuildError
from deployments.services.vllm_image import build_vllm_image


class Command(BaseCommand):
    """Build the image of vLLM for the CPU through the Docker API, unless exactly this one is there."""

    help = "Build the image of vLLM for the CPU on a host, unless exactly this one is there."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which host, and machine-readable output."""
        parser.add_argument("--host", default="local", help="name of a registered host")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the reference and the id of the image."""
        try:
            built = build_vllm_image(options["host"])
        except ImageBuildError as error:
            raise CommandError(str(error), returncode=2) from error
        if options["json"]:
            answer = {
                "reference": built.reference,
                "image_id": built.image_id,
                "new": built.new,
            }
            self.stdout.write(json.dumps(answer))
        else:
            word = "Built" if built.new else "Already there:"
            self.stdout.write(f"{word} {built.reference} {built.image_id}")

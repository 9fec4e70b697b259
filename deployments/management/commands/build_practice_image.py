"""``manage.py build_practice_image``: the stand-in for vLLM, for trying the panel without a GPU."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.services.image_builds import ImageBuildError
from deployments.services.practice_image import build_practice_image


class Command(BaseCommand):
    """Build the practice image through the Docker API, unless exactly this one is there."""

    help = "Build the practice image on a host, unless exactly this one is there."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which host, and machine-readable output."""
        parser.add_argument("--host", default="local", help="name of a registered host")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the reference and the id of the image."""
        try:
            built = build_practice_image(options["host"])
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

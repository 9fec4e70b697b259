"""``manage.py read_model_directory``: config.json of a model that lies on a registered host."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.management.registered import UNUSABLE, registered_host
from deployments.models import Host
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.documents import (
    CONFIG,
    INDEX,
    read_config,
    read_index,
)
from deployments.planning.model_config.reading import read_model
from deployments.services.errors import UseCaseError
from deployments.services.model_directories import read_model_directory


class Command(BaseCommand):
    """Read what a directory of weights on a host says of its model; nothing runs there."""

    help = "Read config.json and the index of a model on a host, for the catalog."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("directory", help="on the host, such as /data/models/X")
        parser.add_argument("--host", required=True, help="name of a registered host")
        parser.add_argument(
            "--cluster", help="its cluster, where the name is not unique"
        )
        parser.add_argument("--output", help="directory to write the files to")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read, write and print; exit 2 for what cannot be read."""
        host = registered_host(Host.objects.all(), options["host"], options["cluster"])
        try:
            files = read_model_directory(host, options["directory"])
            config = read_config(files.config)
            index = None if files.index is None else read_index(files.index)
            reading = read_model(config, index)
        except (UseCaseError, PlanningError) as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["output"]:
            self._write(Path(options["output"]), files.config, files.index)
        asked = [f"{one.name}: {one.why}" for one in reading.asked]
        if options["json"]:
            told = {"config": config, "index": index is not None, "asked": asked}
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        names = config.get("architectures")
        listed = ", ".join(map(str, names)) if isinstance(names, list) else "unknown"
        self.stdout.write(f"{options['directory']} on {host.name}: {listed}")
        for question in asked:
            self.stdout.write(f"  not told: {question}")

    def _write(self, folder: Path, config: bytes, index: bytes | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG).write_bytes(config)
        if index is not None:
            (folder / INDEX).write_bytes(index)
        self.stdout.write(
            f"Written to {folder}; upload them at /catalog/import/, or keep the model with import_model."
        )

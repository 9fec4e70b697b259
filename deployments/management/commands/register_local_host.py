"""``manage.py register_local_host``: the Docker Engine of this machine as host ``local``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from deployments.services.local_host import register_local_host


class Command(BaseCommand):
    """Register the local Docker Engine; says so in one sentence if none answers."""

    help = "Register the Docker Engine of this machine (DOCKER_HOST, else /var/run/docker.sock)."

    def add_arguments(self, parser: CommandParser) -> None:
        """One switch: accept another engine than the registered one."""
        parser.add_argument(
            "--replace",
            action="store_true",
            help="accept another engine although devices or ports are in use",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print what came of it; no engine is no error."""
        self.stdout.write(register_local_host(replace=options["replace"]))

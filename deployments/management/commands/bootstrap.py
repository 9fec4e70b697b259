"""``manage.py bootstrap``: the first person, team and cluster."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from deployments.services.bootstrap import bootstrap


class Command(BaseCommand):
    """Make the default team, the local cluster and the administrator, once."""

    help = "Make the default team, the cluster 'local' and the person 'admin', once."

    def add_arguments(self, parser: CommandParser) -> None:
        """One switch: machine-readable output."""
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the name and, only the first time, the password."""
        result = bootstrap()
        if options["json"]:
            answer = {"user": result.user_name, "password": result.password}
            self.stdout.write(json.dumps(answer))
        elif result.password is None:
            self.stdout.write("The panel was set up before; nothing changed.")
        else:
            self.stdout.write(f"User {result.user_name}, password {result.password}")

"""``manage.py load_catalog``: bring the shipped catalog into the tables."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.planning.errors import PlanningError
from deployments.services.catalog import load_shipped_catalog


class Command(BaseCommand):
    """Load or refresh the shipped catalog; entries of teams stay as they are."""

    help = "Load or refresh the shipped catalog of target models."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Load, and say how many entries there are."""
        try:
            count = load_shipped_catalog()
        except PlanningError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Catalog: {count} target models.")

"""Print a key with which Prometheus reads where a person's live replicas answer."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.models import User
from deployments.selectors.service_discovery import key_for


class Command(BaseCommand):
    """The key reads what the person may read, until they change their password."""

    help = "Print the bearer key of a person for /service-discovery/targets.json."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose key."""
        parser.add_argument("username")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print it.

        Raises:
            CommandError: there is nobody of that name.
        """
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(
                f"There is no active person {options['username']}: look in Settings."
            )
        self.stdout.write(key_for(user))

"""``manage.py reset_admin_password``: a new one-time password for a person."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from deployments.models import User
from deployments.services.bootstrap import ADMIN_NAME, reset_password


class Command(BaseCommand):
    """Give a person a new random password and print it."""

    help = "Give a person (by default 'admin') a new random password and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        """The person's user name."""
        parser.add_argument("user", nargs="?", default=ADMIN_NAME)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the new password."""
        try:
            password = reset_password(options["user"])
        except User.DoesNotExist as error:
            raise CommandError(
                f"Nobody is called {options['user']!r}. Run 'make run' once first."
            ) from error
        except DatabaseError as error:
            raise CommandError(
                "The database has no tables yet: run 'make run' once first."
            ) from error
        self.stdout.write(f"User {options['user']}, password {password}")

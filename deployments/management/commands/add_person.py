"""``manage.py add_person``: someone who may log in, with roles in a team."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.models import Team, TeamRole
from deployments.services.bootstrap import add_person
from deployments.services.errors import UseCaseError


class Command(BaseCommand):
    """Make a person, put them into a team with these roles, and print a password once."""

    help = "Make a person with roles in a team; prints a password once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Name, team and roles."""
        parser.add_argument("name")
        parser.add_argument("--team", default="default", help="the team's short name")
        parser.add_argument(
            "--role",
            action="append",
            choices=TeamRole.values,
            default=[],
            help="repeat for several; none implies another",
        )
        parser.add_argument(
            "--keep-password",
            action="store_true",
            help="the first log-in asks for no other password",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make the person and say how they log in."""
        roles = [TeamRole(role) for role in options["role"]] or [TeamRole.VIEWER]
        try:
            team = Team.objects.get(slug=options["team"])
            password = add_person(
                options["name"],
                team,
                *roles,
                must_change_password=not options["keep_password"],
            )
        except Team.DoesNotExist as error:
            known = ", ".join(Team.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(
                f"There is no team {options['team']!r}. Teams: {known}."
            ) from error
        except UseCaseError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"User {options['name']}, password {password}")

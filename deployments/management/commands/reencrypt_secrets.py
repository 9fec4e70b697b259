"""Move every stored secret to the first key of CREDENTIALS_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.services.errors import UseCaseError
from deployments.services.secrets import reseal_all


class Command(BaseCommand):
    """Run once after a new key was put in front; then the earlier key may be taken away."""

    help = "Encrypt every stored secret with the first key of CREDENTIALS_KEY."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Say how many there are.

        Raises:
            CommandError: no key opens one of them.
        """
        try:
            done = reseal_all()
        except UseCaseError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{done} secrets are encrypted with the first key.")

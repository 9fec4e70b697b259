"""The application's configuration."""

from django.apps import AppConfig
from django.core.checks import register

from deployments.checks import check_combinations


class DeploymentsConfig(AppConfig):
    """Registers the system checks."""

    name = "deployments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Check combinations of settings with ``check --deploy`` and at start."""
        register(check_combinations, "security", deploy=True)

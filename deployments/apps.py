"""The application's configuration."""

from importlib import import_module

from django.apps import AppConfig
from django.core.checks import register

from deployments.checks import check_combinations


class DeploymentsConfig(AppConfig):
    """Registers the system checks, and listens for log-ins and for the end of migrations."""

    name = "deployments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Check combinations of settings with ``check --deploy`` and at start."""
        register(check_combinations, "security", deploy=True)
        # Services need the tables, which are known only now.
        import_module("deployments.services.sign_ins").listen()
        import_module("deployments.services.frozen_tables").listen()

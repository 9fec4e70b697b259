"""A person's own settings: language, time zone, theme, density."""

from django.db import transaction

from deployments.models import AuditAction, Density, Theme, User
from deployments.services.audit import record


def change_settings(
    user: User, *, language: str, time_zone: str, theme: Theme, density: Density
) -> None:
    """Keep what the person chose; empty language or time zone leaves it to the browser or panel."""
    old, new = {"time_zone": user.time_zone}, {"time_zone": time_zone}
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(
            language=language, time_zone=time_zone, theme=theme, density=density
        )
        if old != new:
            record(AuditAction.PERSON_CHANGED, user, user, before=old, after=new)


def change_density(user: User, density: Density) -> None:
    """Keep the density alone, for the switch of the tables."""
    User.objects.filter(pk=user.pk).update(density=density)


def change_theme(user: User, theme: Theme) -> None:
    """Keep the theme alone, for the switch in the bar."""
    User.objects.filter(pk=user.pk).update(theme=theme)

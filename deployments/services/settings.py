"""A person's own settings: language, time zone, theme, density."""

from deployments.models import Density, Theme, User


def change_settings(
    user: User, *, language: str, time_zone: str, theme: Theme, density: Density
) -> None:
    """Keep what the person chose; empty language or time zone leaves it to the browser or panel."""
    User.objects.filter(pk=user.pk).update(
        language=language, time_zone=time_zone, theme=theme, density=density
    )


def change_theme(user: User, theme: Theme) -> None:
    """Keep the theme alone, for the switch in the bar."""
    User.objects.filter(pk=user.pk).update(theme=theme)

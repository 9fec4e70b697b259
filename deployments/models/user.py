"""People who log in."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class Theme(models.TextChoices):
    """Colour scheme of the pages; ``system`` follows the browser."""

    SYSTEM = "system", _("As the system")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class Density(models.TextChoices):
    """Height of table rows."""

    COMFORTABLE = "comfortable", _("Comfortable")
    COMPACT = "compact", _("Compact")


class User(AbstractUser):
    """A person, with the language, time zone, theme and density that their pages use.

    ``must_change_password`` is true while the password is one that somebody else has seen.
    ``unfinished_plans`` is how many the wizard keeps for them.
    ``invited_by`` is who made the link by which this account came to be.
    """

    language = models.CharField(max_length=10, blank=True, default="")
    time_zone = models.CharField(max_length=64, blank=True, default="")
    theme = models.CharField(max_length=8, choices=Theme.choices, default=Theme.SYSTEM)
    density = models.CharField(
        max_length=12, choices=Density.choices, default=Density.COMFORTABLE
    )
    must_change_password = models.BooleanField(default=False)
    unfinished_plans = models.PositiveSmallIntegerField(default=0)
    invited_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                name="user_theme_known", condition=models.Q(theme__in=Theme.values)
            ),
            models.CheckConstraint(
                name="user_density_known",
                condition=models.Q(density__in=Density.values),
            ),
        ]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

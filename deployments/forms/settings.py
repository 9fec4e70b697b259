"""The person's settings, and the theme switch of the bar."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from deployments.models import Density, Theme

Choices = list[tuple[str, Any]]


def language_choices() -> Choices:
    """The browser's language, then each language in its own name."""
    named: Choices = [
        (code, get_language_info(code)["name_local"])
        for code, _name in settings.LANGUAGES
    ]
    return [("", _("As the browser")), *named]


def time_zone_choices() -> Choices:
    """The panel's zone, then every named zone of the time zone database."""
    panel = _("As the panel (%(zone)s)") % {"zone": settings.TIME_ZONE}
    zones = sorted(zone for zone in available_timezones() if "/" in zone)
    return [("", panel), ("UTC", "UTC"), *((zone, zone) for zone in zones)]


class SettingsForm(forms.Form):
    """Language, time zone, theme and density of one person's pages."""

    language = forms.ChoiceField(
        label=_("Language"), choices=language_choices, required=False
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=time_zone_choices,
        required=False,
        help_text=_("Times on every page are shown in this zone."),
    )
    theme = forms.ChoiceField(
        label=_("Theme"), choices=Theme.choices, widget=forms.RadioSelect
    )
    density = forms.ChoiceField(
        label=_("Density of tables"), choices=Density.choices, widget=forms.RadioSelect
    )


class ThemeForm(forms.Form):
    """One theme, as the switch in the bar sends it."""

    theme = forms.ChoiceField(choices=Theme.choices)

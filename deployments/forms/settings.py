"""The person's settings, and the theme switch of the bar."""

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
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
    return [("", panel), ("UTC", "UTC"), *((zone, zone) for zone in _named_zones())]


@cache
def _named_zones() -> tuple[str, ...]:
    """The zones of the time zone database, whose 600 files are looked through once."""
    return tuple(sorted(zone for zone in available_timezones() if "/" in zone))


class LongSelect(forms.Select):
    """A list of hundreds of choices, without a template for each: a tenth of the time."""

    def render(
        self,
        name: str,
        value: object,
        attrs: dict[str, Any] | None = None,
        renderer: object = None,  # noqa: ARG002 Django calls it so
    ) -> SafeString:
        """Return the same element as a plain select, options without groups."""
        chosen = "" if value is None else str(value)
        marks = {True: format_html(" {}", "selected"), False: ""}
        options = format_html_join(
            "\n",
            '<option value="{}"{}>{}</option>',
            ((code, marks[code == chosen], label) for code, label in self.choices),
        )
        attributes = flatatt(
            self.build_attrs(self.attrs, {"name": name, **(attrs or {})})
        )
        return format_html("<select{}>{}</select>", attributes, options)


class SettingsForm(forms.Form):
    """Language, time zone, theme and density of one person's pages."""

    language = forms.ChoiceField(
        label=_("Language"), choices=language_choices, required=False
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=time_zone_choices,
        widget=LongSelect,
        required=False,
        help_text=_("Times on every page are shown in this zone."),
    )
    theme = forms.ChoiceField(
        label=_("Theme"), choices=Theme.choices, widget=forms.RadioSelect
    )
    density = forms.ChoiceField(
        label=_("Density of tables"), choices=Density.choices, widget=forms.RadioSelect
    )


class DensityForm(forms.Form):
    """One density, as the switch of a table sends it."""

    density = forms.ChoiceField(choices=Density.choices)


class ThemeForm(forms.Form):
    """One theme, as the switch in the bar sends it."""

    theme = forms.ChoiceField(choices=Theme.choices)

"""A freeze window as a form."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deployments.forms.settings import LongSelect, time_zone_choices
from deployments.models import FreezeKind, FreezeRepeat
from deployments.planning.freezing import (
    LONGEST_MINUTES,
    Repeat,
    Window,
    WindowKind,
)


def _zones() -> list[tuple[str, Any]]:
    """Named zones only: what the panel's own is may change."""
    return [("", _("Choose")), *time_zone_choices()[1:]]


class FreezeForm(forms.Form):
    """A time in which nothing new may start, or the only time in which something may."""

    name = forms.CharField(
        max_length=80,
        label=_("Name"),
        help_text=_("What the page of a request says, such as: quarter end."),
    )
    kind = forms.ChoiceField(
        choices=FreezeKind.choices, widget=forms.RadioSelect, label=_("In this time")
    )
    whole_team = forms.BooleanField(
        required=False, label=_("For every cluster of the team")
    )
    time_zone = forms.ChoiceField(
        choices=_zones, widget=LongSelect, label=_("Time zone")
    )
    first_day = forms.DateField(
        label=_("First day"), widget=forms.DateInput(attrs={"type": "date"})
    )
    begins = forms.TimeField(
        label=_("Begins at"),
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    hours = forms.IntegerField(
        min_value=0,
        max_value=LONGEST_MINUTES // 60,
        label=_("Hours"),
        help_text=_("How long it lasts on the wall clock; 744 hours at most."),
    )
    minutes = forms.IntegerField(
        min_value=0, max_value=59, required=False, label=_("and minutes")
    )
    repeat = forms.ChoiceField(
        choices=FreezeRepeat.choices,
        label=_("Comes back"),
        help_text=_(
            "Every month on the day of the first one, where the month has that day."
        ),
    )
    weekdays = forms.TypedMultipleChoiceField(
        choices=lambda: list(WEEKDAYS.items()),
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Days, where it comes back every week (none: as the first)"),
    )
    last_day = forms.DateField(
        required=False,
        label=_("Not after"),
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=_("The last day on which one may begin; empty is for ever."),
    )

    def clean(self) -> dict[str, Any]:
        """Refuse what lasts no time, ends before it begins, or is over already."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        window = self.window
        if not 0 < window.minutes <= LONGEST_MINUTES:
            self.add_error(
                "hours", gettext("Say how long it lasts: one minute to 744 hours.")
            )
            return cleaned
        if window.last_day is not None and window.last_day < window.begins.date():
            self.add_error(
                "last_day", gettext("This is before the first day: choose a later one.")
            )
            return cleaned
        now = datetime.now(UTC)
        ahead = window.periods(now, now + timedelta(days=366 * 9))
        if next(ahead, None) is None:
            self.add_error(
                "first_day",
                gettext("This time is over and never comes back: choose a later day."),
            )
        return cleaned

    @property
    def window(self) -> Window:
        """The window of a valid form."""
        value = self.cleaned_data
        repeat = Repeat(value["repeat"])
        weekly = repeat is Repeat.WEEKLY
        return Window(
            name=value["name"],
            kind=WindowKind(value["kind"]),
            time_zone=value["time_zone"],
            begins=datetime.combine(value["first_day"], value["begins"]),
            minutes=value["hours"] * 60 + (value["minutes"] or 0),
            repeat=repeat,
            weekdays=tuple(sorted(value["weekdays"])) if weekly else (),
            last_day=None if repeat is Repeat.ONCE else value["last_day"],
        )

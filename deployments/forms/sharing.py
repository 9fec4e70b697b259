"""Sharing a cluster, as a form."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.models import ShareAccess, Team
from deployments.services.quotas import MOST_DEVICES


class ShareForm(forms.Form):
    """Another team by its name, and what it may; the names of all teams are nobody's to browse."""

    team = forms.CharField(
        max_length=80,
        label=gettext_lazy("Team"),
        help_text=gettext_lazy("Its exact name, as its members say it."),
    )
    access = forms.ChoiceField(
        choices=ShareAccess.choices,
        initial=ShareAccess.READ,
        label=gettext_lazy("What it may do"),
        widget=forms.RadioSelect,
    )
    devices = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_DEVICES,
        label=gettext_lazy("Devices at most"),
        help_text=gettext_lazy(
            "Held by its releases or asked for by its requests. Empty is no limit."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Find the team."""
        cleaned = super().clean() or {}
        name = str(cleaned.get("team", "")).strip()
        if name and not self.errors:
            found = Team.objects.filter(name=name).first()
            if found is None:
                self.add_error(
                    "team",
                    _(
                        "There is no team “%(name)s”; ask one of its members how it is spelt."
                    )
                    % {"name": name},
                )
            cleaned["row"] = found
        return cleaned

"""What people send from the page of an approval request."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.models import Decision
from deployments.selectors.start_times import AT_ANY_TIME

LONGEST_COMMENT = 2000


class DecisionForm(forms.Form):
    """A decision on the digest that was shown; a rejection says why."""

    decision = forms.ChoiceField(choices=Decision.choices, widget=forms.HiddenInput)
    digest = forms.CharField(max_length=71, widget=forms.HiddenInput)
    start = forms.CharField(
        max_length=90, required=False, widget=forms.HiddenInput, empty_value=AT_ANY_TIME
    )
    comment = forms.CharField(
        label=_("Comment"),
        max_length=LONGEST_COMMENT,
        required=False,
        widget=forms.TextInput(
            attrs={"class": "field", "placeholder": _("Comment; needed to reject")}
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for a reason where the decision is to reject."""
        cleaned = super().clean() or {}
        if cleaned.get("decision") == Decision.REJECT and not cleaned.get("comment"):
            self.add_error(
                "comment", _("Say in a few words why, so that the author can mend it.")
            )
        return cleaned


class CommentForm(forms.Form):
    """A question or an answer."""

    text = forms.CharField(max_length=LONGEST_COMMENT)


class StartForm(forms.Form):
    """When an approved plan may start, in the zone of the person's pages, and whether by itself."""

    starts_itself = forms.BooleanField(
        required=False,
        label=_("Start by itself once it is approved"),
        help_text=_("In your name, and only while you are an operator."),
    )
    start_from = forms.DateTimeField(
        required=False,
        label=_("Not before"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )
    start_until = forms.DateTimeField(
        required=False,
        label=_("Not after"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text=_(
            "What has not begun by then never begins. Both empty: at any time."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for both ends of the window, or none."""
        cleaned = super().clean() or {}
        ends = (cleaned.get("start_from"), cleaned.get("start_until"))
        if not self.errors and (ends[0] is None) != (ends[1] is None):
            missing = "start_from" if ends[0] is None else "start_until"
            self.add_error(missing, _("Give both times, or neither."))
        return cleaned

    @property
    def window(self) -> tuple[datetime, datetime] | None:
        """The window of a valid form."""
        start_from = self.cleaned_data["start_from"]
        start_until = self.cleaned_data["start_until"]
        return (start_from, start_until) if start_from and start_until else None

"""What people send from the page of an approval request."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.models import Decision

LONGEST_COMMENT = 2000


class DecisionForm(forms.Form):
    """A decision on the digest that was shown; a rejection says why."""

    decision = forms.ChoiceField(choices=Decision.choices, widget=forms.HiddenInput)
    digest = forms.CharField(max_length=71, widget=forms.HiddenInput)
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

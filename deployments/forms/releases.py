"""What people send to start or end a release."""

import uuid

from django import forms
from django.utils.translation import gettext_lazy as _

LONGEST_REASON = 300


class ActForm(forms.Form):
    """One act; the key makes a second click find the first one's command."""

    key = forms.UUIDField(widget=forms.HiddenInput)


class EmergencyStopForm(ActForm):
    """Stopping a whole deployment at once, with the reason."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        help_text=_("Why it is stopped; the others of the team read it."),
        widget=forms.TextInput(attrs={"class": "field"}),
    )


def new_key() -> str:
    """A key for the next click on a page."""
    return str(uuid.uuid4())

"""What people send from the page of an alarm."""

from django import forms
from django.utils.translation import gettext_lazy as _

LONGEST_NOTE = 500


class AcknowledgeForm(forms.Form):
    """That somebody knows, with a few words for the others."""

    note = forms.CharField(
        label=_("Note"),
        max_length=LONGEST_NOTE,
        required=False,
        help_text=_("What you know or do about it; the others of the team read it."),
        widget=forms.TextInput(attrs={"class": "field"}),
    )

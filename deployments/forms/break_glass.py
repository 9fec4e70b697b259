"""Starting without approval, and the review of it."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from deployments.forms.releases import LONGEST_REASON, ActForm

LONGEST_INCIDENT = 80


class BreakGlassForm(ActForm):
    """Why nobody can be waited for."""

    incident = forms.CharField(
        label=_("Incident"),
        max_length=LONGEST_INCIDENT,
        help_text=_("Its number or name, where your team keeps incidents."),
        widget=forms.TextInput(attrs={"class": "field"}),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        help_text=_("Why this cannot wait for an approval; it is shown for ever."),
        widget=forms.TextInput(attrs={"class": "field"}),
    )


class ReviewForm(forms.Form):
    """What came of a start without approval."""

    review = forms.CharField(
        label=pgettext_lazy("of a start without approval", "Review"),
        max_length=LONGEST_REASON,
        help_text=_("Whether it was right, and what changes so that it need not be."),
        widget=forms.TextInput(attrs={"class": "field"}),
    )

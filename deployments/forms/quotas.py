"""The device quota of a cluster as a form."""

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.services.quotas import MOST_DEVICES


class QuotaForm(forms.Form):
    """A limit, or none."""

    devices = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_DEVICES,
        label=_("Devices at most"),
        help_text=_("Held by releases or asked for by requests. Empty is no limit."),
        widget=forms.NumberInput(attrs={"class": "field"}),
    )

"""Making a key for a program."""

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.models import TokenScope

DAYS = [
    ("7", _("7 days")),
    ("30", _("30 days")),
    ("90", _("90 days")),
    ("365", _("a year")),
]


class TokenForm(forms.Form):
    """Name, scope and life of a token."""

    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        help_text=_("What uses it, for example Prometheus."),
        widget=forms.TextInput(attrs={"class": "field"}),
    )
    scope = forms.ChoiceField(
        label=_("It may"),
        choices=TokenScope.choices,
        initial=TokenScope.READ,
        help_text=_("Never more than you may yourself, and never approve."),
    )
    days = forms.ChoiceField(label=_("It ends after"), choices=DAYS, initial="90")
    is_robot = forms.BooleanField(
        label=_("A program uses it on its own"),
        required=False,
        initial=True,
        help_text=_("The audit then calls whoever acted with it a robot."),
    )

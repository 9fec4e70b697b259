"""A form that is never sent: fields in their states, for the style page."""

from django import forms
from django.utils.translation import gettext_lazy as _


class ExampleForm(forms.Form):
    """One field of each kind."""

    name = forms.CharField(label=_("Name"), help_text=_("Example, nothing is kept."))
    host = forms.CharField(label=_("Host"))
    method = forms.ChoiceField(
        label=_("Method"), choices=[("mtp", "MTP"), ("eagle3", "EAGLE-3")]
    )
    goal = forms.ChoiceField(
        label=_("Show"),
        choices=[("live", _("Live")), ("failed", _("Failed"))],
        widget=forms.RadioSelect,
    )
    practice = forms.BooleanField(label=_("practice"), required=False)
    note = forms.CharField(label=_("Comment"), widget=forms.Textarea(attrs={"rows": 2}))

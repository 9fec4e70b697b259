"""What narrows the list of target models; everything is optional and stands in the address."""

from django import forms
from django.utils.translation import gettext_lazy as _

LONGEST_SEARCH = 160


class CatalogFilterForm(forms.Form):
    """Search text, family, and what a model must come with."""

    q = forms.CharField(
        required=False,
        max_length=LONGEST_SEARCH,
        label=_("Search"),
        widget=forms.TextInput(
            attrs={
                "type": "search",
                "placeholder": _("name, repository or drafter"),
                "autocomplete": "off",
            }
        ),
    )
    family = forms.CharField(
        required=False, max_length=60, label=_("Family"), widget=forms.Select
    )
    mtp = forms.BooleanField(required=False, label=_("Has MTP layers"))
    drafter = forms.BooleanField(required=False, label=_("Has a drafter"))

    def offer_families(self, families: list[str]) -> None:
        """Fill the choice of families; the first means all of them."""
        widget = self.fields["family"].widget
        widget.choices = [("", _("All families")), *((name, name) for name in families)]

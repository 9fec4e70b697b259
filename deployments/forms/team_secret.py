"""A secret of a team: its name, and the value that is kept and never shown again."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.forms.wizard.fields import printable
from deployments.planning.endpoint_key import OPEN, SECRET_NAME

SHORTEST, LONGEST = 8, 512


class SecretForm(forms.Form):
    """What a team admin stores; a refused form comes back without the value."""

    secret_name = forms.CharField(
        max_length=40,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy(
            "Small letters, digits and hyphens, such as chat-key. A name that exists gets a new value, and with it the next version."
        ),
        widget=forms.TextInput(
            attrs={"class": "field", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    value = forms.CharField(
        strip=True,
        label=gettext_lazy("Value"),
        help_text=gettext_lazy(
            "Encrypted at once, and shown to nobody again. “openssl rand -hex 32” makes a good one."
        ),
        widget=forms.PasswordInput(
            attrs={"class": "field", "autocomplete": "new-password"}
        ),
    )

    def clean_secret_name(self) -> str:
        """The name.

        Raises:
            ValidationError: it is spelt otherwise, or means something else in a plan.
        """
        name = str(self.cleaned_data["secret_name"])
        if SECRET_NAME.fullmatch(name) is None or name == OPEN:
            raise ValidationError(
                _(
                    "Use small letters, digits and hyphens, begin and end with a letter or digit, and do not call it off."
                )
            )
        return name

    def clean_value(self) -> str:
        """The value.

        Raises:
            ValidationError: too short or long, or what cannot stand in a header.
        """
        value = str(self.cleaned_data["value"])
        if not SHORTEST <= len(value) <= LONGEST:
            raise ValidationError(
                _("A value has %(shortest)s to %(longest)s characters.")
                % {"shortest": SHORTEST, "longest": LONGEST}
            )
        if not value.isascii() or not printable(value) or " " in value:
            raise ValidationError(
                _(
                    "A value is sent in a header: ASCII letters, digits and signs, no spaces."
                )
            )
        return value

"""A deployment spec as a person gives it to the wizard: a file, or its text."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

LARGEST_BYTES = 256 << 10


class SpecForm(forms.Form):
    """Text of a spec, or a file of it; the result is ``written``."""

    text = forms.CharField(
        required=False,
        max_length=LARGEST_BYTES,
        strip=False,
        label=gettext_lazy("Deployment spec (YAML)"),
        help_text=gettext_lazy(
            "As the review copies it and `manage.py plan_deployment` reads it."
        ),
        widget=forms.Textarea(
            attrs={"rows": 16, "class": "mono", "spellcheck": "false"}
        ),
    )
    file = forms.FileField(
        required=False,
        label=gettext_lazy("Or a file"),
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml"}),
    )

    def clean(self) -> dict[str, Any]:
        """Take the one that was given.

        Raises:
            ValidationError: neither or both, too large, or no text.
        """
        values: dict[str, Any] = dict(super().clean() or {})
        written, file = (values.get("text") or "").strip(), values.get("file")
        if not self.errors and bool(written) is bool(file):
            raise ValidationError(_("Give the spec once: as a file, or as its text."))
        if file:
            content = file.read(LARGEST_BYTES + 1)
            if len(content) > LARGEST_BYTES:
                raise ValidationError(_("The file is larger than 256 KiB."))
            try:
                written = content.decode()
            except UnicodeDecodeError:
                raise ValidationError(_("The file is not UTF-8 text.")) from None
        values["written"] = written
        return values

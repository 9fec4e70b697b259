"""Which engine version a deployment is compared under, and the image that holds it."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.details import DetailsFields
from deployments.forms.wizard.fields import TextField, shown
from deployments.selectors.engine_upgrade import EngineChoice, VersionGroup

GROUPS = {
    "final": _("Releases"),
    "own": _("Own profiles"),
    "candidate": _("Release candidates"),
}


class EngineUpgradeForm(forms.Form):
    """The version, checked against those that exist, and an image of one's own if any."""

    to = forms.CharField(required=False, max_length=80, label=_("Engine version"))
    image = forms.CharField(required=False)

    def __init__(self, data: QueryDict, choice: EngineChoice) -> None:
        super().__init__(data, label_suffix="")
        self.choice = choice
        wizard = DetailsFields.base_fields["image"]
        if isinstance(wizard, TextField):
            self.fields["image"].widget.attrs |= {"maxlength": wizard.longest}
            self.image_field = wizard

    def clean_to(self) -> str:
        """The version asked for, else the newest release where that is newer.

        Raises:
            ValidationError: there is no such version of this engine.
        """
        asked = str(self.cleaned_data["to"]).strip()
        if asked and asked not in self.choice.names:
            raise forms.ValidationError(
                _(
                    "There is no profile of “%(version)s” for this deployment; choose one of the list."
                )
                % {"version": shown(asked)}
            )
        return asked or self.choice.newest

    def clean_image(self) -> str:
        """The image, spelt as the wizard takes it.

        Raises:
            ValidationError: it is no image reference.
        """
        return str(self.image_field.clean(self.cleaned_data["image"]))

    @property
    def version(self) -> str:
        """The version to compare with; empty where none is newer."""
        return str(self.cleaned_data.get("to") or "")

    @property
    def groups(self) -> list[tuple[str, VersionGroup]]:
        """Titles and versions for the list."""
        return [(str(GROUPS[group.kind]), group) for group in self.choice.groups]

    @property
    def problem(self) -> str:
        """What is wrong with the address, in a sentence."""
        return " ".join(str(one) for found in self.errors.values() for one in found)

"""Entries of the catalog as YAML: edited in place, or brought in from a file."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.models import Team
from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.spec_text import read_document_text
from deployments.selectors.texts import say_error

LARGEST_CHARACTERS = 200_000
LARGEST_FILE_BYTES = 1 << 20


class EntryTextForm(forms.Form):
    """One entry as YAML."""

    text = forms.CharField(
        max_length=LARGEST_CHARACTERS,
        label=gettext_lazy("Entry (YAML)"),
        help_text=gettext_lazy(
            "The keys of the shipped catalog. Leave out what is not known; name who says it under sources."
        ),
        widget=forms.Textarea(
            attrs={"rows": 28, "class": "mono", "spellcheck": "false"}
        ),
    )

    def clean_text(self) -> str:
        """Read the YAML; the result is ``document``.

        Raises:
            ValidationError: it is no YAML.
        """
        text: str = self.cleaned_data["text"]
        self.document = _read(text)
        return text


class EntriesFileForm(forms.Form):
    """A file of entries, for a team."""

    team = forms.ChoiceField(label=gettext_lazy("Team"))
    file = forms.FileField(
        label=gettext_lazy("Entries (YAML)"),
        help_text=gettext_lazy("As the export writes them. At most 1 MB."),
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml"}),
    )

    def __init__(
        self,
        data: QueryDict | None,
        files: "MultiValueDict[str, UploadedFile[Any]] | None",
        teams: Iterable[Team],
    ) -> None:
        super().__init__(data, files, label_suffix="")
        self.teams = {str(team.pk): team for team in teams}
        field = self.fields["team"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(key, team.name) for key, team in self.teams.items()]

    def clean_file(self) -> "UploadedFile[Any]":
        """Read the file; the result is ``document``.

        Raises:
            ValidationError: it is too large, no text, or no YAML.
        """
        content = self.cleaned_data["file"].read(LARGEST_FILE_BYTES + 1)
        if len(content) > LARGEST_FILE_BYTES:
            raise ValidationError(_("The file is larger than 1 MB; split it."))
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise ValidationError(_("The file is not UTF-8 text.")) from None
        self.document = _read(text)
        file: UploadedFile[Any] = self.cleaned_data["file"]
        return file


def _read(text: str) -> Json:
    try:
        return read_document_text(text)
    except PlanningError as error:
        raise ValidationError(say_error(error)) from error

"""The files of a model as a person gives them: uploaded, or pasted."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.documents import (
    LARGEST_CONFIG_BYTES,
    LARGEST_INDEX_BYTES,
    read_config,
    read_index,
)
from deployments.planning.model_config.reading import ModelReading, read_model
from deployments.selectors.texts import say_error


class ModelFilesForm(forms.Form):
    """config.json, and the index of the weights where there is one."""

    config = forms.FileField(
        required=False,
        label="config.json",
        help_text=gettext_lazy(
            "From the directory of the weights: of a target model or of a drafter. At most 1 MB."
        ),
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    pasted = forms.CharField(
        required=False,
        label=gettext_lazy("Or its text"),
        max_length=LARGEST_CONFIG_BYTES,
        strip=True,
        widget=forms.Textarea(
            attrs={"rows": 8, "class": "mono", "spellcheck": "false"}
        ),
    )
    index = forms.FileField(
        required=False,
        label="model.safetensors.index.json",
        help_text=gettext_lazy(
            "Names every tensor: the exact size, and whether the MTP layers are really there. Without it both are asked for. At most 32 MB."
        ),
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )

    def clean(self) -> dict[str, Any]:
        """Read the files; the result is ``reading``.

        Raises:
            ValidationError: neither a file nor text, or both.
        """
        values: dict[str, Any] = dict(super().clean() or {})
        uploaded, pasted = values.get("config"), values.get("pasted")
        if not self.errors and bool(uploaded) is bool(pasted):
            raise ValidationError(
                _("Give config.json once: as a file, or as its text.")
            )
        config = self._read("config" if uploaded else "pasted", uploaded or pasted)
        index = self._read("index", values.get("index"))
        if config is not None and not self.errors:
            values["reading"] = read_model(config, index)
        return values

    @property
    def reading(self) -> ModelReading:
        """What a valid form read."""
        reading: ModelReading = self.cleaned_data["reading"]
        return reading

    def _read(
        self, field: str, given: "UploadedFile[Any] | str | None"
    ) -> dict[str, Json] | None:
        if not given:
            return None
        index = field == "index"
        most = LARGEST_INDEX_BYTES if index else LARGEST_CONFIG_BYTES
        content = (
            given.encode() if isinstance(given, str) else bytes(given.read(most + 1))
        )
        try:
            return read_index(content) if index else read_config(content)
        except PlanningError as error:
            self.add_error(field, say_error(error))
            return None

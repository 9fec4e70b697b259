"""What people send to have a deployment measured."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.models import Deployment
from deployments.planning.bench.course import USUAL_LEVELS, USUAL_REPEATS, Course
from deployments.planning.bench.datasets import (
    MOST_OWN_BYTES,
    Dataset,
    own_prompts,
)
from deployments.planning.errors import PlanningError
from deployments.selectors.texts import say_error

SEPARATORS = re.compile(r"[^\w.+-]+")
DATASETS = {
    Dataset.CHAT: gettext_lazy("Chat: questions and short texts"),
    Dataset.CODE: gettext_lazy("Code: writing, explaining, mending"),
    Dataset.MATHEMATICS: gettext_lazy("Mathematics, worked out"),
    Dataset.SUMMARISATION: gettext_lazy("Summarisation of given texts"),
    Dataset.EXTRACTION: gettext_lazy("Extraction to JSON and lists"),
    Dataset.CHINESE: gettext_lazy("Chinese, of all kinds"),
    Dataset.OWN: gettext_lazy("The team's own prompts (file below)"),
    Dataset.SHAREGPT: gettext_lazy("ShareGPT (path below)"),
    Dataset.RANDOM: gettext_lazy("Random tokens: no verdict on speculation"),
}


ALONE, IN_TURN = "alone", "in-turn"


class CourseForm(forms.Form):
    """Which arms and prompts, at which loads, how often; the key makes a second click find the first.

    ``beside`` are deployments that could be the arm without speculation; ``pairs`` says that what runs
    speculates, so that there are two arms at all.
    """

    key = forms.UUIDField(widget=forms.HiddenInput)
    arms = forms.ChoiceField(label=gettext_lazy("What to measure"), required=False)
    dataset = forms.ChoiceField(
        label=gettext_lazy("Prompts"),
        choices=[(key.value, label) for key, label in DATASETS.items()],
        help_text=gettext_lazy(
            "Those most like what your users send: acceptance is that of the text."
        ),
    )
    levels = forms.CharField(
        label=gettext_lazy("Requests at once"),
        initial=", ".join(map(str, USUAL_LEVELS)),
        max_length=60,
        help_text=gettext_lazy("Loads to measure, the lowest first, such as 1, 4, 16."),
    )
    repeats = forms.IntegerField(
        label=gettext_lazy("Repeats"),
        initial=USUAL_REPEATS,
        min_value=1,
        help_text=gettext_lazy("Of each load; three or more give an interval."),
    )
    prompts = forms.IntegerField(
        label=gettext_lazy("Prompts per run"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("Empty: eight times the load, at least 32."),
    )
    own_file = forms.FileField(
        label=gettext_lazy("Own prompts"),
        required=False,
        help_text=gettext_lazy(
            "JSON lines, an object with “prompt” and perhaps “output_tokens” in each."
        ),
    )
    sharegpt_path = forms.CharField(
        label=gettext_lazy("Path of ShareGPT"),
        required=False,
        max_length=300,
        help_text=gettext_lazy(
            "In the service's container, below a mounted directory."
        ),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        files: "MultiValueDict[str, UploadedFile[Any]] | None" = None,
        *,
        initial: dict[str, Any] | None = None,
        pairs: bool = False,
        beside: Iterable[Deployment] = (),
    ) -> None:
        super().__init__(data, files, initial=initial)
        self.pairs = pairs
        self.beside = {str(one.pk): one for one in beside} if pairs else {}
        choices: list[tuple[str, object]] = [(ALONE, _("What runs, as it is"))]
        if pairs:
            choices += [
                (IN_TURN, _("With speculation and without, in turn on its devices"))
            ]
        choices += [
            (key, _("With it here, without it on %(name)s") % {"name": one.name})
            for key, one in self.beside.items()
        ]
        self.fields["arms"].choices = choices  # type: ignore[attr-defined]
        self.course: Course | None = None
        self.own = ""

    @property
    def shipped(self) -> list[str]:
        """The datasets that the panel brings, to be read."""
        return [one.value for one in Dataset if one.shipped]

    @property
    def in_turn(self) -> bool:
        """Whether the same devices serve both arms."""
        return self.cleaned_data.get("arms") == IN_TURN

    @property
    def other(self) -> Deployment | None:
        """The deployment that is the arm without speculation."""
        return self.beside.get(self.cleaned_data.get("arms") or "")

    def clean_levels(self) -> tuple[int, ...]:
        """The loads as numbers.

        Raises:
            ValidationError: something in it is no number.
        """
        words = [word for word in SEPARATORS.split(self.cleaned_data["levels"]) if word]
        if not words or not all(word.isascii() and word.isdigit() for word in words):
            raise ValidationError(_("Write loads as numbers, such as 1, 4, 16."))
        return tuple(map(int, words))

    def clean_own_file(self) -> str:
        """The text of the file, empty without one.

        Raises:
            ValidationError: it is too large or no UTF-8.
        """
        given = self.cleaned_data.get("own_file")
        if not given:
            return ""
        if given.size > MOST_OWN_BYTES:
            raise ValidationError(
                _("The file is larger than %(limit)s MiB: leave some prompts out.")
                % {"limit": MOST_OWN_BYTES >> 20}
            )
        try:
            return str(given.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ValidationError(_("The file is no UTF-8 text.")) from error

    def clean(self) -> dict[str, Any]:
        """Put the course together.

        Raises:
            ValidationError: it is out of bounds; the sentence names the bound.
        """
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        dataset = Dataset(cleaned["dataset"])
        path = cleaned["sharegpt_path"].strip()
        try:
            self.course = Course(
                dataset=dataset,
                levels=cleaned["levels"],
                repeats=cleaned["repeats"],
                prompts=cleaned["prompts"],
                sharegpt_path=(path or None) if dataset is Dataset.SHAREGPT else None,
            )
            if dataset is Dataset.OWN:
                self.own = cleaned["own_file"]
                own_prompts(self.own)
        except PlanningError as error:
            raise ValidationError(say_error(error)) from error
        return cleaned

"""Results that a person pastes or uploads, without and with speculation."""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.models import Deployment, Revision, Team, TeamRole, User
from deployments.selectors.access import teams_with_role
from deployments.selectors.benchmarks import deployment_for, revision_of
from deployments.selectors.texts import say_error
from deployments.telemetry.benchmarks.errors import BenchmarkError
from deployments.telemetry.benchmarks.reader import read_benchmark
from deployments.telemetry.benchmarks.values import BenchmarkRun

LARGEST_UPLOAD = 4 * 1024 * 1024
_PASTE = {"rows": 7, "spellcheck": "false", "class": "mono"}

Runs = tuple[BenchmarkRun, ...]


class ResultsForm(forms.Form):
    """A name, what was measured, and one result or a pair; pasted text wins over a file."""

    off_text = forms.CharField(
        label=gettext_lazy("Paste"), required=False, widget=forms.Textarea(attrs=_PASTE)
    )
    off_file = forms.FileField(label=gettext_lazy("or a file"), required=False)
    on_text = forms.CharField(
        label=gettext_lazy("Paste"), required=False, widget=forms.Textarea(attrs=_PASTE)
    )
    on_file = forms.FileField(label=gettext_lazy("or a file"), required=False)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=50,
        help_text=gettext_lazy("What was measured, in a few words."),
    )
    deployment = forms.CharField(
        label=gettext_lazy("Deployment"),
        required=False,
        max_length=40,
        help_text=gettext_lazy("Its name, if one of the panel was measured."),
    )
    revision = forms.IntegerField(
        label=gettext_lazy("Revision"), required=False, min_value=1
    )

    def __init__(
        self,
        user: User,
        data: Mapping[str, Any] | None = None,
        files: "MultiValueDict[str, UploadedFile[Any]] | None" = None,
        *,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, files, initial=initial)
        self._user = user
        self._teams = {
            str(team.pk): team for team in teams_with_role(user, TeamRole.OPERATOR)
        }
        self.fields["team"] = forms.ChoiceField(
            label=gettext_lazy("Team"),
            choices=[(key, team.name) for key, team in self._teams.items()],
        )
        self.off: Runs = ()
        self.on: Runs = ()
        self.measured: tuple[Deployment | None, Revision | None] = (None, None)

    @property
    def may_keep(self) -> bool:
        """Whether the person is an operator anywhere."""
        return bool(self._teams)

    @property
    def team_row(self) -> Team:
        """The chosen team."""
        return self._teams[self.cleaned_data["team"]]

    def clean(self) -> dict[str, Any]:
        """Read the results and find what was measured."""
        cleaned = super().clean() or {}
        self.off = self._runs("off_text", "off_file")
        self.on = self._runs("on_text", "on_file")
        if not (self.off or self.on or self.errors):
            raise ValidationError(_("Paste at least one result, or choose its file."))
        self._find_measured(cleaned)
        return cleaned

    def _runs(self, text: str, file: str) -> Runs:
        pasted = self.cleaned_data.get(text) or ""
        uploaded: UploadedFile[Any] | None = self.cleaned_data.get(file)
        if not pasted and uploaded is None:
            return ()
        field = text if pasted else file
        try:
            return read_benchmark(pasted.encode() if pasted else _content(uploaded))
        except (BenchmarkError, ValidationError) as error:
            said = (
                error.messages[0]
                if isinstance(error, ValidationError)
                else say_error(error)
            )
            self.add_error(field, said)
            return ()

    def _find_measured(self, cleaned: dict[str, Any]) -> None:
        name, number = cleaned.get("deployment"), cleaned.get("revision")
        team = self._teams.get(cleaned.get("team", ""))
        if not name or team is None:
            if number and not name:
                self.add_error("deployment", _("Name the deployment of this revision."))
            return
        deployment = deployment_for(self._user, team, name)
        if deployment is None:
            self.add_error(
                "deployment",
                _("The team %(team)s has no single deployment of this name.")
                % {"team": team.name},
            )
            return
        revision = revision_of(deployment, number) if number else None
        if number and revision is None:
            self.add_error("revision", _("The deployment has no such revision."))
        self.measured = (deployment, revision)


def chosen_keys(values: list[str]) -> list[uuid.UUID]:
    """The ids among the values of an address; other values name nothing."""
    found: list[uuid.UUID] = []
    for value in values:
        with suppress(ValueError):
            found.append(uuid.UUID(value))
    return found


def _content(uploaded: "UploadedFile[Any] | None") -> bytes:
    if uploaded is None or uploaded.size is None:
        return b""
    if uploaded.size > LARGEST_UPLOAD:
        raise ValidationError(
            _(
                "The file is larger than %(limit)s MiB: run the benchmark without --save-detailed, or keep only the result block."
            )
            % {"limit": LARGEST_UPLOAD // 1024**2}
        )
    return bytes(uploaded.read())

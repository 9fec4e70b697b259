"""What the files of a model leave open, asked for: names, places, and missing facts."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from deployments.forms.catalog.questions import MOST, NUMBERS, question_fields
from deployments.forms.wizard.fields import (
    NumberField,
    Spelling,
    TextField,
)
from deployments.models import Team
from deployments.planning.catalog import Attention, Drafter, Experts
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.model_config.answers import Answer, answered
from deployments.planning.model_config.entry import FROM_CONFIG, Naming
from deployments.planning.model_config.reading import ModelReading
from deployments.planning.platforms import PLATFORMS
from deployments.selectors.texts import say

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

KEY = Spelling(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?",
    _("write a name such as organisation/model."),
)
PLAIN = Spelling(
    r"[A-Za-z0-9][A-Za-z0-9._-]*", _("use letters, digits, dots, dashes, underscores.")
)
REPOSITORY = Spelling(
    r"[A-Za-z0-9/][A-Za-z0-9._/-]*", _("write organisation/name or a path.")
)
Initial = dict[str, object] | None


class EntryForm(forms.Form):
    """What every imported checkpoint or drafter needs besides its files."""

    team = forms.ChoiceField(
        label=_("Team"),
        help_text=_("Its people see the entry and plan with it; nobody else does."),
    )
    key = TextField(
        longest=120,
        spelling=KEY,
        label=_("Name"),
        help_text=_("Such as organisation/model. Clients and lists show it."),
    )
    repository = TextField(
        longest=200,
        spelling=REPOSITORY,
        label=_("Repository"),
        help_text=_("Where the weights come from. Left empty, it is the name."),
    )
    directory = TextField(
        longest=120,
        spelling=PLAIN,
        label=_("Directory"),
        help_text=_(
            "Its name in the model directory of the hosts. Left empty, it is the last part of the name."
        ),
    )
    platforms = forms.MultipleChoiceField(
        choices=[(one.name, one.title) for one in PLATFORMS.values()],
        widget=forms.CheckboxSelectMultiple,
        label=_("Runs on"),
        help_text=_("No file says it: the formats that each platform can load."),
    )

    def __init__(
        self,
        data: QueryDict | None,
        reading: ModelReading,
        teams: Iterable[Team],
        *,
        initial: Initial = None,
    ) -> None:
        super().__init__(data, label_suffix="", initial=initial)
        self.reading = reading
        self.teams = {str(team.pk): team for team in teams}
        self.fields["key"].required = True
        self._choices("team", [(key, one.name) for key, one in self.teams.items()])

    @property
    def chosen_team(self) -> Team:
        """The team of a valid form."""
        return self.teams[self.cleaned_data["team"]]

    @property
    def chosen_directory(self) -> str:
        """The directory given, else the last part of the name."""
        given: str = self.cleaned_data["directory"] or self.cleaned_data["key"]
        return given.rsplit("/", maxsplit=1)[-1]

    @property
    def answers(self) -> dict[str, Answer]:
        """The answers to open questions, without those left empty."""
        value: Callable[[str], Any] = self.cleaned_data.get
        found: dict[str, Answer] = {
            name: value(name)
            for name in (*NUMBERS, "architecture", "quantisation")
            if name in self.fields and value(name)
        }
        for name in ("has_mtp", "holds_mtp"):
            if value(name):
                found[name] = value(name) == "yes"
        if value("attention_kind"):
            found["attention"] = Attention(
                kind=value("attention_kind"),
                kv_heads=value("kv_heads"),
                head_dim=value("head_dim"),
            )
        if value("experts_total") and value("experts_active"):
            found["experts"] = Experts(
                total=value("experts_total"), active=value("experts_active")
            )
        return found

    def _choices(self, name: str, choices: "list[tuple[str, StrOrPromise]]") -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def _ask(self) -> None:
        for one in self.reading.asked:
            self.fields.update(question_fields(one.name, say(one.why)))


class TargetForm(EntryForm):
    """A target model: one checkpoint of a new entry, or one more of a known one."""

    family = TextField(
        longest=60,
        label=_("Family"),
        help_text=_("Groups the catalog. Left empty, it is the model type."),
    )
    checkpoint = TextField(
        longest=60,
        spelling=PLAIN,
        label=_("Checkpoint"),
        help_text=_(
            "Tells the checkpoints of one model apart. Left empty, it is the quantisation."
        ),
    )
    active_parameters = NumberField(
        low=1,
        high=MOST,
        label=_("Active parameters"),
        help_text=_(
            "Those that work on one token; of a mixture of experts fewer than all. No file says it."
        ),
    )

    def __init__(
        self,
        data: QueryDict | None,
        reading: ModelReading,
        teams: Iterable[Team],
        *,
        initial: Initial = None,
    ) -> None:
        super().__init__(data, reading, teams, initial=initial)
        self._ask()

    @property
    def answered(self) -> ModelReading:
        """The reading with the answers."""
        return answered(self.reading, self.answers)

    @property
    def naming(self) -> Naming:
        """What no file says."""
        value = self.cleaned_data
        reading = self.answered
        return Naming(
            key=value["key"],
            name=value["key"].rsplit("/", maxsplit=1)[-1],
            family=value["family"] or reading.model_type or value["key"],
            checkpoint=value["checkpoint"] or reading.quantisation or "default",
            repository=value["repository"] or value["key"],
            directory=self.chosen_directory,
            platforms=tuple(value["platforms"]),
            stated=tuple(sorted(self.answers)),
            active_parameters=value["active_parameters"],
        )


class DrafterForm(EntryForm):
    """A drafter, bound to a target model that it fits."""

    target = forms.ChoiceField(
        label=_("Drafts for"),
        help_text=_("Only models that it does not contradict are offered."),
    )
    method = forms.ChoiceField(
        choices=[
            (one.method.value, one.title)
            for one in FACTS.values()
            if one.need is Need.DRAFTER
        ],
        label=_("Method"),
    )
    num_speculative_tokens = NumberField(
        low=1,
        high=64,
        label=_("num_speculative_tokens"),
        help_text=_(
            "Tokens drafted per step that its makers name. Left empty, the method's own default counts."
        ),
    )

    def __init__(
        self,
        data: QueryDict | None,
        reading: ModelReading,
        teams: Iterable[Team],
        *,
        targets: "list[tuple[str, StrOrPromise]]",
        initial: Initial = None,
    ) -> None:
        super().__init__(data, reading, teams, initial=initial)
        self._choices("target", targets)
        if reading.question("size_bytes") is not None:
            self.fields.update(
                question_fields("size_bytes", say(reading.asked[-1].why))
            )

    @property
    def chosen_method(self) -> Method:
        """The method of a valid form."""
        return Method(self.cleaned_data["method"])

    @property
    def drafter(self) -> Drafter:
        """The drafter as the catalog holds it."""
        value = self.cleaned_data
        return Drafter(
            key=self.chosen_directory,
            method=self.chosen_method,
            repository=value["repository"] or value["key"],
            directory=self.chosen_directory,
            platforms=tuple(value["platforms"]),
            source=self.reading.source or FROM_CONFIG,
            size_bytes=self.reading.size_bytes or value.get("size_bytes"),
            num_speculative_tokens=value["num_speculative_tokens"],
        )

"""The speculation calculator's form: an address holds every field, so that it can be shared."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.details import engine_choices
from deployments.forms.wizard.fields import (
    NumberField,
    OneOfField,
    TextField,
    shown,
)
from deployments.forms.wizard.workloads import OWN, PRESETS
from deployments.planning.calculation import (
    GivenAcceptance,
    Inquiry,
    host_count,
)
from deployments.planning.catalog import TargetModel
from deployments.planning.methods import FACTS, Method
from deployments.planning.platforms import PLATFORMS
from deployments.planning.platforms.devices import DEVICES_PER_HOST
from deployments.planning.revision import Goal, Workload
from deployments.planning.speedup.accelerators import accelerators, usual_accelerator
from deployments.selectors.texts import say

if TYPE_CHECKING:
    from deployments.forms.wizard.fields import Choice

ASSUMED, RATE, LENGTH, POSITIONS = "assumed", "rate", "length", "positions"
SAID = lazy(say, str)
USUAL = Workload(input_tokens=1000, output_tokens=400, concurrency=16)
EXAMPLE = {
    "model": "Qwen/Qwen3-8B",
    "platform": "nvidia",
    "device": "H100",
    "devices": "1",
    "method": "eagle3",
}
"""What the page answers before anybody has entered anything, where the catalog has the model."""
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,12})?")
_SEPARATORS = re.compile(r"[\s,;/\uff0c\u3001]+")
_MOST_POSITIONS = 64
_WORKLOAD = ("input_tokens", "output_tokens", "concurrency")


def example(models: Mapping[str, str]) -> dict[str, str]:
    """The example, or its question about a model that there is, with a method that needs no weights."""
    if EXAMPLE["model"] in models or not models:
        return EXAMPLE
    return EXAMPLE | {"model": min(models), "method": Method.NGRAM.value}


class CalculatorForm(forms.Form):
    """Model, hardware, workload and how it drafts.

    ``entry`` is the catalog entry of the model in ``data``; a checkpoint or device that does not
    belong to the chosen model or platform is left out, and ``dropped`` names it.
    """

    model = forms.CharField(
        required=False, label=_("Target model"), widget=forms.Select
    )
    checkpoint = forms.ChoiceField(
        required=False,
        label=_("Checkpoint"),
        help_text=_("Decides the bytes of a weight, so memory and speed alike."),
    )
    method = OneOfField(
        choices=[(method.value, SAID(facts.title)) for method, facts in FACTS.items()],
        label=_("Method"),
        help_text="",
        widget=forms.Select,
    )
    tokens = NumberField(
        low=1,
        high=64,
        label=_("num_speculative_tokens"),
        help_text=_("Left empty, what documents or the planner take."),
    )
    known = OneOfField(
        choices=[
            (ASSUMED, _("Nothing: take the usual")),
            (RATE, _("Acceptance rate")),
            (LENGTH, _("Mean acceptance length")),
            (POSITIONS, _("Rate of each position")),
        ],
        label=_("Known about acceptance"),
        help_text="",
        widget=forms.Select,
    )
    acceptance = TextField(
        longest=400,
        label=_("Acceptance"),
        help_text=_(
            "A rate such as 0.62 or 62 %, a length such as 2.8 (it counts the bonus token), or one rate a position: 0.81, 0.65, 0.52."
        ),
    )
    platform = OneOfField(
        choices=[(one.name, one.title) for one in PLATFORMS.values()],
        label=_("Platform"),
        help_text="",
        widget=forms.Select,
    )
    device = forms.ChoiceField(required=False, label=_("Device"))
    devices = NumberField(
        low=1,
        high=1024,
        label=_("Devices"),
        help_text=_("Of one instance, on all its hosts. On Ascend a die counts."),
    )
    dp = NumberField(
        low=1,
        high=1024,
        label=_("Data parallel size"),
        help_text=_("The rest is tensor parallel. Left empty, as documented."),
    )
    memory = NumberField(
        low=1,
        high=2048,
        label=_("Memory of one device"),
        help_text=_("Left empty, the data sheet's."),
        unit="GiB",
    )
    engine = OneOfField(
        choices=engine_choices(),
        label=_("Engine version"),
        help_text="",
        widget=forms.Select,
    )
    input_tokens = NumberField(
        low=1,
        high=2_000_000,
        label=_("Input"),
        help_text="",
        unit=_("tokens"),
    )
    output_tokens = NumberField(
        low=1,
        high=1_000_000,
        label=_("Output"),
        help_text="",
        unit=_("tokens"),
    )
    concurrency = NumberField(
        low=1,
        high=4096,
        label=_("At once"),
        help_text="",
        unit=_("requests"),
    )
    max_model_len = NumberField(
        low=1,
        high=10_000_000,
        label=_("max_model_len"),
        help_text=_("Left empty, the model's own or what fits."),
        unit=_("tokens"),
    )

    def __init__(
        self,
        data: QueryDict,
        *,
        models: Mapping[str, str],
        entry: TargetModel | None,
    ) -> None:
        """``models`` are the keys that the person may choose, with their names."""
        self.entry, self.models = entry, models
        self.dropped: list[str] = []
        values = self._values(data, entry)
        super().__init__(values)
        nothing = [] if entry else [("", _("Choose a model"))]
        choices: dict[str, list[Choice]] = {
            "model": [*nothing, *models.items()],
            "checkpoint": _checkpoints(entry),
            "device": _devices(values["platform"]),
        }
        for name, offered in choices.items():
            field: Any = self.fields[name]
            field.choices = field.widget.choices = offered

    def _values(self, data: QueryDict, entry: TargetModel | None) -> dict[str, str]:
        """The address as the form shows it: with what empty fields mean, without what cannot be."""
        values = {name: data.get(name, "").strip() for name in self.base_fields}
        values["platform"] = values["platform"] or next(iter(PLATFORMS))
        offered = {
            "checkpoint": [key for key, _name in _checkpoints(entry)],
            "device": [key for key, _name in _devices(values["platform"])],
        }
        for name, keys in offered.items():
            if values[name] and values[name] not in keys:
                self.dropped.append(shown(values[name]))
                values[name] = ""
        values["device"] = values["device"] or next(iter(offered["device"]))
        for name in _WORKLOAD:
            values[name] = values[name] or str(getattr(USUAL, name))
        usual = DEVICES_PER_HOST.get(values["platform"]) or 1
        values["devices"] = values["devices"] or str(usual)
        values["known"] = values["known"] or ASSUMED
        return values

    def clean(self) -> dict[str, Any]:
        """Read the acceptance as the kind that it is said to be; a model must be chosen."""
        value = self.cleaned_data
        if self.entry is None:
            self.add_error(
                "model",
                _("This model is not in your catalog; choose one from the list.")
                if self.data.get("model")
                else _("Choose a model."),
            )
        try:
            value["given"] = _given(
                value.get("known", ASSUMED), value.get("acceptance") or ""
            )
        except ValidationError as error:
            self.add_error("acceptance", error)
        return value

    @property
    def inquiry(self) -> Inquiry:
        """What is asked; only of a valid form."""
        value = self.cleaned_data
        if self.entry is None:
            raise TypeError("a valid form has a model")
        memory = value["memory"]
        return Inquiry(
            model=self.entry,
            platform=value["platform"],
            devices=value["devices"],
            method=Method(value["method"]),
            workload=Workload(
                input_tokens=value["input_tokens"],
                output_tokens=value["output_tokens"],
                concurrency=value["concurrency"],
                goal=Goal.BALANCED,
            ),
            checkpoint=value["checkpoint"] or None,
            device=value["device"] or None,
            device_bytes=None if memory is None else memory << 30,
            data_parallel_size=value["dp"],
            engine=value["engine"] or None,
            max_model_len=value["max_model_len"],
            num_speculative_tokens=value["tokens"],
            acceptance=value["given"],
        )

    def address(self, **changes: str) -> str:
        """The query that shows this form again, with other values where they are given."""
        values = {name: str(self.data.get(name) or "") for name in self.fields}
        values |= changes
        return urlencode([(name, value) for name, value in values.items() if value])

    def presets(self) -> list[tuple[str, str, bool]]:
        """(title, address, chosen) of each workload that the wizard offers too."""
        now = tuple(str(self.data.get(name) or "") for name in _WORKLOAD)
        found = []
        for preset in PRESETS:
            numbers = {name: str(getattr(preset.workload, name)) for name in _WORKLOAD}
            chosen = tuple(numbers.values()) == now
            found.append((str(preset.title), self.address(**numbers), chosen))
        return found

    def wizard_address(self) -> str:
        """The same model, hardware, workload and method in the wizard, as an export without a host."""
        asked, value = self.inquiry, self.cleaned_data
        hosts = host_count(asked)
        state: dict[str, object] = {
            "step": "method",
            "model": asked.model.key,
            "checkpoint": value["checkpoint"],
            "place": "platform",
            "platform": asked.platform,
            "platform_hosts": hosts,
            "platform_devices": max(
                DEVICES_PER_HOST[asked.platform], asked.devices // hosts
            ),
            "platform_device": value["device"],
            "platform_memory": value["memory"],
            "preset": OWN,
            **{name: value[name] for name in _WORKLOAD},
            "method": value["method"],
            "tokens": value["tokens"],
            "combined_devices": asked.devices // hosts,
            "combined_dp": asked.data_parallel_size,
            "engine": value["engine"],
            "max_model_len": asked.max_model_len,
        }
        return urlencode({key: one for key, one in state.items() if one})


def _checkpoints(entry: TargetModel | None) -> "list[Choice]":
    found: list[Choice] = [("", _("The first for the platform"))]
    checkpoints = entry.checkpoints if entry else ()
    return [*found, *((one.key, one.key) for one in checkpoints)]


def _devices(platform: str) -> "list[Choice]":
    """The devices of a platform whose figures are public, the usual one first."""
    usual = usual_accelerator(platform)
    known = [one for one in accelerators() if one.platform == platform]
    if not known:
        return [("", _("No public figures"))]
    known.sort(key=lambda one: one.key != usual.key)
    return [(one.key, say(one.title)) for one in known]


def _given(known: str, written: str) -> GivenAcceptance:
    if known == ASSUMED:
        return GivenAcceptance()
    numbers = _numbers(written)
    if known == POSITIONS:
        return GivenAcceptance(positions=numbers)
    if len(numbers) != 1:
        raise ValidationError(
            _(
                "This is %(count)s numbers; write one, or choose “Rate of each position”."
            )
            % {"count": len(numbers)}
        )
    if known == RATE:
        return GivenAcceptance(rate=numbers[0])
    return GivenAcceptance(mean_length=numbers[0])


def _numbers(written: str) -> tuple[float, ...]:
    """Numbers with a point; a per cent sign divides by a hundred.

    Raises:
        ValidationError: there is none, or something is no number.
    """
    text = re.sub(r"\s+(?=[%\uff05])", "", written).replace("\uff05", "%")
    parts = [part for part in _SEPARATORS.split(text) if part]
    if not parts:
        raise ValidationError(
            _("Write what was measured, or choose “Nothing: take the usual”.")
        )
    if len(parts) > _MOST_POSITIONS:
        raise ValidationError(
            _("These are %(count)s numbers; keep them to %(most)s.")
            % {"count": len(parts), "most": _MOST_POSITIONS}
        )
    return tuple(_number(part) for part in parts)


def _number(part: str) -> float:
    plain = part.removesuffix("%")
    if not _NUMBER.fullmatch(plain):
        raise ValidationError(
            _("“%(value)s” is not a number; write it like 0.62 or 62 %%.")
            % {"value": shown(part)}
        )
    return float(plain) / 100 if part.endswith("%") else float(plain)

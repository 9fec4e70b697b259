"""The fields that ask for what the files of a model do not say, each with why it is asked."""

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from deployments.forms.wizard.fields import NumberField, OneOfField, TextField
from deployments.planning.sizing.geometry import KNOWN_KINDS
from deployments.planning.sizing.quantisation import QUANTISATIONS

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

NUMBERS: "dict[str, tuple[StrOrPromise, StrOrPromise]]" = {
    "layers": (_("Layers"), ""),
    "hidden_size": (_("Hidden size"), ""),
    "vocabulary_size": (_("Vocabulary"), ""),
    "context_length": (_("Context in tokens"), ""),
    "parameters": (_("Parameters"), ""),
    "size_bytes": (_("Size in bytes"), ""),
}
YES_NO: "list[tuple[str, StrOrPromise]]" = [
    ("", _("Not known")),
    ("yes", _("Yes")),
    ("no", _("No")),
]
MOST = 1 << 48


def question_fields(name: str, why: str) -> dict[str, forms.Field]:
    """The fields for one open fact; none for a fact that no form asks for."""
    if name in NUMBERS:
        label, unit = NUMBERS[name]
        return {name: _number(label, why, unit)}
    fields: dict[str, forms.Field] = {}
    match name:
        case "has_mtp":
            fields = {name: _one_of(YES_NO, _("Drafts with MTP"), why)}
        case "holds_mtp":
            fields = {name: _one_of(YES_NO, _("Weights hold MTP layers"), why)}
        case "quantisation":
            fields = {name: _known(QUANTISATIONS, _("Quantisation"), why)}
        case "architecture":
            field = TextField(longest=120, label=_("Architecture"), help_text=why)
            return {name: field}
        case "attention":
            return {
                "attention_kind": _known(
                    KNOWN_KINDS, pgettext_lazy("a part of the model", "Attention"), why
                ),
                "kv_heads": _number(_("KV heads"), ""),
                "head_dim": _number(_("Width of a head"), ""),
            }
        case "experts":
            return {
                "experts_total": _number(_("Experts"), why),
                "experts_active": _number(_("Experts that work on a token"), ""),
            }
        case _:
            return {}
    return fields


def _known(names: tuple[str, ...], label: "StrOrPromise", why: str) -> OneOfField:
    choices: list[tuple[str, StrOrPromise]] = [("", _("Not known"))]
    choices += [(name, name) for name in names]
    return _one_of(choices, label, why)


def _number(label: "StrOrPromise", why: str, unit: "StrOrPromise" = "") -> NumberField:
    return NumberField(low=1, high=MOST, label=label, help_text=why, unit=unit)


def _one_of(
    choices: "list[tuple[str, StrOrPromise]]", label: "StrOrPromise", why: str
) -> OneOfField:
    return OneOfField(
        choices=[*choices], label=label, help_text=why, widget=forms.Select
    )

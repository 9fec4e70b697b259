"""What an imported config.json says, as rows of its page."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from deployments.planning.methods import FACTS
from deployments.planning.model_config.reading import ModelReading
from deployments.selectors.texts import say
from deployments.templatetags.figures import count, known, parameters, size, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFact:
    """One line: what, its value, the key it was read from; an unknown one says why."""

    label: str
    value: str
    place: str = ""
    why: str = ""


def read_facts(reading: ModelReading) -> list[ReadFact]:
    """Every fact that matters of such a file, read or not."""
    rows = _target_rows(reading) if reading.target else _drafter_rows(reading)
    facts = []
    for name, label, value in rows:
        question = reading.question(name)
        facts.append(
            ReadFact(
                label=label,
                value=value or _("not in the files"),
                place=reading.places.get(name, ""),
                why=say(question.why) if question else "",
            )
        )
    return facts


def _target_rows(reading: ModelReading) -> list[tuple[str, str, str]]:
    attention, experts = reading.attention, reading.experts
    return [
        ("architecture", _("Architecture"), reading.architecture or ""),
        ("model_type", _("Model type"), reading.model_type or ""),
        ("layers", _("Layers"), _count(reading.layers)),
        ("hidden_size", _("Hidden size"), _count(reading.hidden_size)),
        ("vocabulary_size", _("Vocabulary"), _count(reading.vocabulary_size)),
        (
            "context_length",
            _("Context"),
            tokens(reading.context_length) if reading.context_length else "",
        ),
        (
            "attention",
            pgettext("a part of the model", "Attention"),
            attention.kind if attention else "",
        ),
        (
            "experts",
            _("Experts"),
            _("%(total)s, %(active)s work on a token")
            % {"total": experts.total, "active": experts.active}
            if experts
            else ("" if reading.question("experts") else _("none")),
        ),
        (
            "parameters",
            _("Parameters"),
            parameters(reading.parameters) if reading.parameters else "",
        ),
        ("quantisation", _("Quantisation"), reading.quantisation or ""),
        (
            "size_bytes",
            _("Size"),
            size(reading.size_bytes) if reading.size_bytes else "",
        ),
        (
            "mtp_layers",
            _("Declared MTP layers"),
            _count(reading.mtp_layers) or _("none"),
        ),
        (
            "holds_mtp",
            _("Weights hold MTP layers"),
            known(reading.holds_mtp) if reading.holds_mtp is not None else "",
        ),
    ]


def _drafter_rows(reading: ModelReading) -> list[tuple[str, str, str]]:
    method = reading.method
    return [
        ("method", _("Method"), say(FACTS[method].title) if method else ""),
        ("architecture", _("Architecture"), reading.architecture or ""),
        ("layers", _("Layers"), _count(reading.layers)),
        ("hidden_size", _("Hidden size of its target"), _count(reading.hidden_size)),
        (
            "vocabulary_size",
            _("Vocabulary of its target"),
            _count(reading.vocabulary_size),
        ),
        (
            "draft_vocabulary_size",
            _("Its own vocabulary"),
            _count(reading.draft_vocabulary_size),
        ),
        ("verifier", _("Trained for"), reading.verifier or ""),
        (
            "num_speculative_tokens",
            _("Tokens per step"),
            _count(reading.num_speculative_tokens),
        ),
        (
            "size_bytes",
            _("Size"),
            size(reading.size_bytes) if reading.size_bytes else "",
        ),
    ]


def _count(value: int | None) -> str:
    return count(value) if value else ""

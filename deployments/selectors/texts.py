"""Texts of the pure core and of stored rows in the language of whoever reads them."""

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext, pgettext_lazy

from deployments.planning.text import Text, fill, is_text, said_by, text_from_document

_ROLES: dict[str, Promise] = {
    "combined": pgettext_lazy("role", "combined"),
    "prefill": pgettext_lazy("role", "prefill"),
    "decode": pgettext_lazy("role", "decode"),
    "router": pgettext_lazy("role", "router"),
}


def listed(words: Iterable[object]) -> str:
    """Words one after the other, with the comma that the language puts between them."""
    return pgettext("between the words of a list", ", ").join(map(str, words))


def role_name(role: str) -> str:
    """The word for a role."""
    return str(_ROLES.get(role, role))


def say(said: object) -> str:
    """Translate a ``Text`` or its JSON form, the texts inside it first; other words stay.

    ``None`` says nothing. A translation that lacks a field leaves it out.
    """
    if is_text(said):
        said = text_from_document(said)
    if isinstance(said, Text):
        translated = gettext(said.template) if said.template else ""
        return fill(translated, {name: _value(value) for name, value in said.values})
    return "" if said is None else str(said)


def say_error(error: Exception) -> str:
    """Translate the sentence of an error; one that gettext has made already stays."""
    return say(said_by(error))


def _value(value: str | int) -> str | int:
    return say(value) if isinstance(value, Text) else value

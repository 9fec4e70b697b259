"""Text: an English sentence that remembers how it was made, so that it can be said in another language."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Self, TypedDict, TypeGuard

from pydantic import GetCoreSchemaHandler
from pydantic import JsonValue as Json
from pydantic_core import CoreSchema, core_schema

Value = str | int
"""What a template is filled with; a ``Text`` among the values is a sentence within the sentence."""

_FIELD = re.compile(r"\{([a-z][a-z_0-9]*)\}")


class _Document(TypedDict):
    template: str
    values: dict[str, object]


class Text(str):
    """English made of a template and values; whatever prints, compares or sorts it sees English.

    ``values`` are (name, value) in the order of their names; a name stands in the template as
    ``{name}``. Braces around anything else are just braces. Put together with ``text``; the
    constructor takes words that are not ours, such as an engine's answer, as they are.
    """

    __slots__ = ("_template", "_values")
    _template: str
    _values: tuple[tuple[str, Value], ...]

    def __new__(cls, template: str, values: Mapping[str, Value] | None = None) -> Self:
        """Fill the template.

        Raises:
            ValueError: a value does not occur in the template.
            TypeError: a value is neither a string nor an integer.
        """
        if not values:
            made = super().__new__(cls, template)
            made._template, made._values = template, ()
            return made
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise TypeError(f"{name} is a {type(value).__name__}")
        if not values.keys() <= fields_of(template):
            unused = sorted(values.keys() - fields_of(template))
            raise ValueError(f"{template!r} has no place for {', '.join(unused)}")
        made = super().__new__(cls, fill(template, values))
        made._template, made._values = template, tuple(sorted(values.items()))
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[str, dict[str, Value]]]:
        """What copying and pickling make the same text from."""
        return type(self), (self._template, dict(self._values))

    @property
    def template(self) -> str:
        """The English sentence with its fields: the key of its translations."""
        return self._template

    @property
    def values(self) -> tuple[tuple[str, Value], ...]:
        """What the fields hold."""
        return self._values

    @property
    def english(self) -> str:
        """The English sentence as a plain string."""
        return str(self)

    def filled(self, values: Mapping[str, Value]) -> Self:
        """The same template with those of the values that it has a place for."""
        wanted = fields_of(self._template)
        return type(self)(
            self._template,
            {name: value for name, value in values.items() if name in wanted},
        )

    @property
    def document(self) -> dict[str, Json]:
        """The JSON form that ``text_from_document`` reads."""
        return {
            "template": self._template,
            "values": {
                name: value.document if isinstance(value, Text) else value
                for name, value in self._values
            },
        }

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Stored plans hold the JSON form and nothing else."""
        del source, handler
        return core_schema.no_info_plain_validator_function(text_from_document)


def text(template: str, /, **values: Value) -> Text:
    """Say a sentence of ours; the template is a literal, so that it is found for translation."""
    return Text(template, values)


def sentences(*several: Text) -> Text:
    """Several sentences one after the other; empty ones are left out."""
    said = NOTHING
    for one in filter(None, several):
        said = text("{sentences} {next}", sentences=said, next=one) if said else one
    return said


def ended(clause: Text) -> Text:
    """A sentence with its full stop."""
    return clause if clause.endswith(".") else text("{clause}.", clause=clause)


def either(names: Sequence[str]) -> str:
    """One name, or several as alternatives."""
    said = names[0]
    for name in names[1:]:
        said = text("{names} or {name}", names=said, name=name)
    return said


def listed(names: Iterable[str]) -> str:
    """Names one after the other, with the comma of every language; texts among them are said in it."""
    said: str = NOTHING
    for name in names:
        said = text("{names}, {name}", names=said, name=name) if said else name
    return said


def said_by(error: Exception) -> Text:
    """The sentence of an error."""
    said = error.args[0] if error.args else None
    return said if isinstance(said, Text) else Text(str(error))


def fill(template: str, values: Mapping[str, object]) -> str:
    """Put the values into the fields of a template."""
    if not values:
        return template
    return "".join(
        [
            str(values[name]) if name in values else said
            for said, name in _pieces(template)
        ]
    )


@functools.lru_cache(maxsize=4096)
def fields_of(template: str) -> frozenset[str]:
    """The names that stand in a template."""
    return frozenset(_FIELD.findall(template))


@functools.lru_cache(maxsize=4096)
def _pieces(template: str) -> tuple[tuple[str, str], ...]:
    """A template cut at its fields: (words, no name), or (field with braces, name)."""
    cut = _FIELD.split(template)
    return tuple(
        (f"{{{piece}}}", piece) if place % 2 else (piece, "")
        for place, piece in enumerate(cut)
    )


def is_text(document: object) -> TypeGuard[_Document]:
    """Whether a JSON value looks like the JSON form of a text."""
    return (
        isinstance(document, dict)
        and document.keys() == {"template", "values"}
        and isinstance(document["template"], str)
        and isinstance(document["values"], dict)
    )


def text_from_document(document: object) -> Text:
    """Read the JSON form of a text.

    Raises:
        ValueError: it is none.
    """
    if not is_text(document):
        raise ValueError("a text has a template and values")
    template, values = document["template"], document["values"]
    return Text(template, {name: _value(value) for name, value in values.items()})


def _value(value: object) -> Value:
    if isinstance(value, dict):
        return text_from_document(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("the values of a text are strings, integers and texts")  # noqa: TRY004 - what pydantic catches
    return value


NOTHING = Text("")
"""No sentence at all."""

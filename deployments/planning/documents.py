"""Frozen dataclasses to JSON values and back, strictly: a stored plan reads back as it was."""

import functools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, is_text, text, text_from_document

T = TypeVar("T")
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
_PLAIN = frozenset((type(None), bool, int, float, str))
"""Exactly these are JSON values as they are; a Text is a kind of str and is not among them."""
SEVERAL = 2


def to_document(value: object) -> Json:
    """Turn dataclasses, tuples and enumerations into plain JSON values.

    Raises:
        TypeError: something in it is none of these and no JSON value.
    """
    kind = type(value)
    if kind in _PLAIN:
        return cast("Json", value)
    known = _fields_of(cast("Hashable", kind))
    if known is not None:
        names, read = known
        return {
            name: item if type(item) in _PLAIN else to_document(item)
            for name, item in zip(names, read(value), strict=True)
        }
    if isinstance(value, Text | StrEnum):
        return value.document if isinstance(value, Text) else value.value
    if isinstance(value, list | tuple):
        items: Iterable[Any] = value
        return [item if type(item) in _PLAIN else to_document(item) for item in items]
    if isinstance(value, dict):
        return {str(key): to_document(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


@functools.cache
def _fields_of(
    kind: Hashable,
) -> tuple[tuple[str, ...], Callable[[object], Iterable[Any]]] | None:
    """The names of a dataclass and what reads all of their values, ``None`` for any other type."""
    if not isinstance(kind, type) or not is_dataclass(kind):
        return None
    names = tuple(field.name for field in fields(kind))
    if len(names) < SEVERAL:  # attrgetter gives a tuple for several names only
        return names, lambda value: [getattr(value, name) for name in names]
    return names, attrgetter(*names)


def in_english(document: Json) -> Json:
    """Put plain sentences in the place of the texts of a document, for answers of commands."""
    if isinstance(document, list):
        return [in_english(item) for item in document]
    if not isinstance(document, dict):
        return document
    if is_text(document):
        return text_from_document(document).english
    return {key: in_english(item) for key, item in document.items()}


def from_document(kind: type[T], document: Json) -> T:
    """Build ``kind`` from a stored JSON value.

    Raises:
        PlanningError: a key is missing or of the wrong kind; the message names the first.
    """
    return read_document(kind, document, text("stored {kind}", kind=kind.__name__))


def read_document(kind: type[T], document: Json, what: Text | str) -> T:
    """Build ``kind`` from JSON values that people wrote; ``what`` names them in the message.

    Raises:
        PlanningError: a key is missing, unknown or of the wrong kind; the message names the first.
    """
    try:
        return _adapter(kind).validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PlanningError(
            text(
                "The {what} cannot be read: {place}: {problem}.",
                what=what,
                place=place,
                problem=first["msg"],
            )
        ) from error


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """Made once: for a whole plan that takes longer than reading many of them."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]

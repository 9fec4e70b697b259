"""Documents that a person wrote, read strictly: no text for numbers, no unknown key."""

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from deployments.planning.canonical import Json, canonical_json
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text

T = TypeVar("T")
_READERS: dict[type, TypeAdapter[Any]] = {}
"""Building one takes a hundred times as long as reading a document with it."""


def read_document(kind: type[T], document: Json, what: Text | str) -> T:
    """Build ``kind`` from JSON values; ``what`` names the document in the message.

    Raises:
        PlanningError: a key is missing, unknown or of the wrong kind; the message names the first.
    """
    try:
        return _reader(kind).validate_json(canonical_json(document), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or text("the document")
        raise PlanningError(
            text(
                "The {what} cannot be read: {place}: {problem}. Correct it and try again.",
                what=what,
                place=place,
                problem=first["msg"],
            )
        ) from error


def _reader(kind: type[T]) -> TypeAdapter[T]:
    if kind not in _READERS:
        _READERS[kind] = TypeAdapter(kind)
    return _READERS[kind]

"""Frozen dataclasses to JSON values and back, strictly: a stored plan reads back as it was."""

from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def to_document(value: "DataclassInstance | Json | tuple[object, ...]") -> Json:
    """Turn dataclasses, tuples and enumerations into plain JSON values."""
    if is_dataclass(value):
        return {
            field.name: to_document(getattr(value, field.name)) for field in fields(value)
        }
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, list | tuple):
        return [to_document(item) for item in value]
    if isinstance(value, dict):
        return {key: to_document(item) for key, item in value.items()}
    return value


def from_document(kind: type[T], document: Json) -> T:
    """Build ``kind`` from JSON values.

    Raises:
        PlanningError: a key is missing, unknown or of the wrong kind; the message names the first.
    """
    try:
        return TypeAdapter(kind).validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PlanningError(
            f"The stored {kind.__name__} cannot be read: {place}: {first['msg']}."
        ) from error

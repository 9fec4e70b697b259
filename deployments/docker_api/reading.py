"""Typed looks into the JSON of a Docker Engine: what is missing or odd reads as empty."""

from collections.abc import Mapping

from pydantic import JsonValue as Json


def as_object(value: Json) -> dict[str, Json]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects of a list."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_list(value: Json) -> list[Json]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def string(row: Mapping[str, Json], key: str) -> str:
    """The value as text; empty when it is missing or null."""
    value = row.get(key)
    return "" if value is None else str(value)


def texts(row: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """The items of a list as texts."""
    return tuple(str(item) for item in as_list(row.get(key)))


def text_map(row: Mapping[str, Json], key: str) -> dict[str, str]:
    """An object of texts, such as labels."""
    return {name: str(value) for name, value in as_object(row.get(key)).items()}

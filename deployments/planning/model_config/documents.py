"""JSON files of a model as values, within limits: nothing hostile is read far."""

import json
import re

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text

LARGEST_CONFIG_BYTES = 1 << 20
LARGEST_INDEX_BYTES = 32 << 20
DEEPEST = 24
MOST_TENSORS = 400_000
CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
_PIECE = re.compile(r'[{}\[\]]|"(?:[^"\\]+|\\.)*+(?:"|\Z)', re.DOTALL)
"""A bracket, or a whole string; one without an end runs to the end of the text."""


class ModelConfigError(PlanningError):
    """The file is no readable config.json or index; the message is one sentence."""


def read_config(content: bytes) -> dict[str, Json]:
    """Read a config.json.

    Raises:
        ModelConfigError: it is too large, too deep, no JSON, or no JSON object.
    """
    return _object(content, CONFIG, LARGEST_CONFIG_BYTES)


def read_index(content: bytes) -> dict[str, Json]:
    """Read a model.safetensors.index.json; the result has a ``weight_map`` of names.

    Raises:
        ModelConfigError: it is too large, too deep, no JSON, or has no ``weight_map``.
    """
    document = _object(content, INDEX, LARGEST_INDEX_BYTES)
    names = document.get("weight_map")
    if not isinstance(names, dict) or not names:
        raise ModelConfigError(
            text(
                "The {file} has no weight_map; give the index as it was published.",
                file=INDEX,
            )
        )
    if len(names) > MOST_TENSORS:
        raise ModelConfigError(
            text(
                "The {file} names {count} tensors; {most} is the most.",
                file=INDEX,
                count=len(names),
                most=MOST_TENSORS,
            )
        )
    return document


def _object(content: bytes, name: str, most: int) -> dict[str, Json]:
    if len(content) > most:
        raise ModelConfigError(
            text(
                "The {file} has {size} bytes; {most} is the most.",
                file=name,
                size=len(content),
                most=most,
            )
        )
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(name, text("it is not UTF-8 text")) from error
    if _too_deep(written):
        raise _unreadable(
            name, text("it is nested deeper than {most} levels", most=DEEPEST)
        )
    try:
        document: Json = json.loads(
            written, parse_constant=_constant, object_pairs_hook=_unrepeated
        )
    except json.JSONDecodeError as error:
        raise _unreadable(
            name,
            text("line {line} is not JSON ({why})", line=error.lineno, why=error.msg),
        ) from error
    except ValueError as error:
        raise _unreadable(
            name, text("a number is out of range, or a key stands twice")
        ) from error
    if not isinstance(document, dict):
        raise _unreadable(name, text("it is no JSON object"))
    return document


def _unreadable(name: str, why: Text) -> ModelConfigError:
    return ModelConfigError(
        text("The {file} cannot be read: {why}.", file=name, why=why)
    )


def _too_deep(written: str) -> bool:
    """Whether brackets outside strings nest too deep, seen before anything recurses."""
    depth = 0
    for piece in _PIECE.finditer(written):
        sign = piece[0]
        if sign in {"{", "["}:
            depth += 1
            if depth > DEEPEST:
                return True
        elif sign in {"}", "]"}:
            depth -= 1
    return False


def _constant(name: str) -> Json:
    raise ValueError(name)


def _unrepeated(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found

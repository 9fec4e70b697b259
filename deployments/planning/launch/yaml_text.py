"""YAML that every reader understands alike: block style, every string double-quoted."""

import re
from collections.abc import Iterator, Mapping, Sequence

from deployments.planning.canonical import Json

_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\u0085": "\\N",
    "\u2028": "\\L",
    "\u2029": "\\P",
}
_PLAIN = re.compile("[a-z][a-z_]+")
_RESERVED = frozenset(("yes", "no", "on", "off", "true", "false", "null"))
FIRST_PRINTABLE = 0x20
DELETE = 0x7F
LAST_CONTROL = 0x9F


def quoted(text: str) -> str:
    """Quote one string so that YAML 1.1 and 1.2 readers give it back."""
    return '"' + "".join(_character(one) for one in text) + '"'


def yaml_text(value: Mapping[str, Json]) -> str:
    """Write a mapping; numbers, booleans and plain words as keys stay bare."""
    return "\n".join(_mapping(value, 0)) + "\n"


def _key(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text not in _RESERVED else quoted(text)


def _character(one: str) -> str:
    if one in _ESCAPES:
        return _ESCAPES[one]
    code = ord(one)
    if code < FIRST_PRINTABLE or DELETE <= code <= LAST_CONTROL:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code == 0xFEFF else one


def _mapping(value: Mapping[str, Json], depth: int) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{_indent(depth)}{_key(key)}:", item, depth)


def _sequence(value: Sequence[Json], depth: int) -> Iterator[str]:
    for item in value:
        if isinstance(item, dict) and item:
            lines = list(_mapping(item, depth + 1))
            yield f"{_indent(depth)}- {lines[0].lstrip()}"
            yield from lines[1:]
        elif isinstance(item, list) and item:
            yield f"{_indent(depth)}-"
            yield from _sequence(item, depth + 1)
        else:
            yield f"{_indent(depth)}- {_scalar(item)}"


def _entry(head: str, item: Json, depth: int) -> Iterator[str]:
    if isinstance(item, dict) and item:
        yield head
        yield from _mapping(item, depth + 1)
    elif isinstance(item, list) and item:
        yield head
        yield from _sequence(item, depth + 1)
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(item: Json) -> str:
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if item is None:
        return "null"
    return str(item)


def _indent(depth: int) -> str:
    return "  " * depth

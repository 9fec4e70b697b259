"""Values of the static reading: plain Python values, names, and UNKNOWN for all else."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from deployments.planning.engines.reading.records import lineage
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)

UNKNOWN: Final = Symbol("?")
PARSER: Final = Symbol("parser")
"""Any argument parser or argument group: all of them end up in the same command line."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an enumeration."""

    name: str
    value: object


@dataclass(slots=True)
class Scope:
    """The names of one function while it is read; ``owner`` is the class that defines it."""

    module: str
    names: dict[str, object] = field(default_factory=dict)
    owner: Definition | None = None


def is_known(value: object) -> bool:
    """Whether the value is settled."""
    return value is not UNKNOWN


def items_of(
    tree: SourceTree, value: object, evaluate: Callable[[ast.expr, str], object]
) -> list[object] | None:
    """What iterating over the value gives, ``None`` if that is not settled."""
    if isinstance(value, dict | list | tuple):
        return list(value)
    if isinstance(value, Definition) and isinstance(value.node, ast.ClassDef):
        return list(members_of(tree, value, evaluate)) or None
    return None


def members_of(
    tree: SourceTree, record: Definition, evaluate: Callable[[ast.expr, str], object]
) -> Iterator[Member]:
    """The members of an enumeration class, in their order."""
    for owner in reversed(lineage(tree, record)):
        for statement in getattr(owner.node, "body", ()):
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and not target.id.startswith("_"):
                        yield Member(target.id, evaluate(statement.value, owner.module))


TEXT_METHODS: dict[str, Callable[..., object]] = {
    "replace": str.replace,
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "removeprefix": str.removeprefix,
}


def call_text(text: str, method: str, arguments: list[object]) -> object:
    """A method of a string, when all arguments are strings."""
    known = TEXT_METHODS.get(method)
    if known is None or not all(isinstance(one, str) for one in arguments):
        return UNKNOWN
    return known(text, *arguments)


def call_list(values: list[object], method: str, arguments: list[object]) -> object:
    """A method of a list; changes it in place as Python does."""
    if method == "remove" and arguments and arguments[0] in values:
        values.remove(arguments[0])
    elif method in {"append", "extend"} and arguments:
        added = arguments[0]
        if method == "append":
            values.append(added)
        elif isinstance(added, list):
            values.extend(added)
    elif method == "copy":
        return list(values)
    return None


def call_dict(
    values: dict[object, object], method: str, arguments: list[object]
) -> object:
    """A method of a dictionary; changes it in place as Python does."""
    if method == "items":
        return [[key, value] for key, value in values.items()]
    if method in {"keys", "values"}:
        return list(values if method == "keys" else values.values())
    if method == "get" and arguments:
        default = arguments[1] if len(arguments) > 1 else None
        return values.get(arguments[0], default)
    if method == "pop" and arguments:
        default = arguments[1] if len(arguments) > 1 else UNKNOWN
        return values.pop(arguments[0], default)
    if method == "update" and arguments and isinstance(arguments[0], dict):
        values.update(arguments[0])
        return None
    return dict(values) if method == "copy" else UNKNOWN

"""Type annotations in the sources, as far as a command line depends on them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)

PLAIN = frozenset({"bool", "int", "float", "str", "dict", "list", "tuple", "set"})
_LOWERED = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set"}
_TRANSPARENT = frozenset({"Annotated", "SkipValidation", "Final", "Required"})
_UNIONS = frozenset({"Union", "Optional"})
DEEPEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One member of a union: ``kind`` is a builtin's name, ``literal``, ``none``, ``record`` for a
    dataclass, or ``other``."""

    kind: str
    options: tuple[object, ...] = ()
    inner: tuple["Hint", ...] = ()
    length: int | None = None


NONE = Hint(kind="none")
OTHER = Hint(kind="other")


def hints(
    tree: SourceTree, module: str, node: ast.AST, depth: int = 0
) -> tuple[Hint, ...]:
    """The members of an annotation, aliases resolved and unions flattened."""
    return tuple(dict.fromkeys(_hints(tree, module, node, depth)))


def literal_options(found: tuple[Hint, ...]) -> tuple[object, ...]:
    """The values of every ``Literal`` among the members."""
    return tuple(
        option for hint in found if hint.kind == "literal" for option in hint.options
    )


def is_record(node: ast.ClassDef) -> bool:
    """Whether the class is a dataclass of any make."""
    return any(
        _name_of(decorator) in {"dataclass", "config"}
        for decorator in node.decorator_list
    )


def _hints(tree: SourceTree, module: str, node: ast.AST, depth: int) -> Iterator[Hint]:
    if depth > DEEPEST:
        yield OTHER
        return
    deeper = depth + 1
    match node:
        case ast.Constant(value=None):
            yield NONE
        case ast.Constant(value=str() as text):
            yield from _forward(tree, module, text, deeper)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            yield from _hints(tree, module, left, deeper)
            yield from _hints(tree, module, right, deeper)
        case ast.Subscript(value=base, slice=inside):
            yield from _generic(tree, module, _name_of(base), inside, deeper)
        case ast.Name() | ast.Attribute():
            yield from _named(tree, module, node, deeper)
        case _:
            yield OTHER


def _forward(tree: SourceTree, module: str, text: str, depth: int) -> Iterator[Hint]:
    try:
        yield from _hints(tree, module, ast.parse(text, mode="eval").body, depth)
    except SyntaxError:
        yield OTHER


def _generic(
    tree: SourceTree, module: str, name: str, inside: ast.expr, depth: int
) -> Iterator[Hint]:
    members = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    kind = _LOWERED.get(name, name)
    if kind in _UNIONS:
        for member in members:
            yield from _hints(tree, module, member, depth)
        if kind == "Optional":
            yield NONE
    elif kind in _TRANSPARENT:
        yield from _hints(tree, module, members[0], depth)
    elif kind == "Literal":
        yield Hint(
            kind="literal", options=tuple(_options(tree, module, members, depth))
        )
    elif kind in PLAIN:
        open_ended = any(
            isinstance(one, ast.Constant) and one.value is ... for one in members
        )
        yield Hint(
            kind=kind,
            inner=hints(tree, module, members[0], depth),
            length=None if open_ended else len(members),
        )
    else:
        yield OTHER


def _options(
    tree: SourceTree, module: str, members: list[ast.expr], depth: int
) -> Iterator[object]:
    for member in members:
        if isinstance(member, ast.Constant):
            yield member.value
        else:
            yield from literal_options(hints(tree, module, member, depth))


def _named(
    tree: SourceTree, module: str, node: ast.Name | ast.Attribute, depth: int
) -> Iterator[Hint]:
    name = _name_of(node)
    found = tree.find(module, name) if isinstance(node, ast.Name) else Symbol(name)
    if isinstance(found, Symbol):
        kind = _LOWERED.get(found.last, found.last)
        yield Hint(kind=kind) if kind in PLAIN else OTHER
    elif isinstance(found.node, ast.ClassDef):
        yield _class_hint(found.node)
    elif isinstance(found.node, ast.FunctionDef):
        yield OTHER
    else:
        yield from _definition(tree, found, depth)


def _definition(tree: SourceTree, found: Definition, depth: int) -> Iterator[Hint]:
    yield from _hints(tree, found.module, found.node, depth)


def _class_hint(node: ast.ClassDef) -> Hint:
    if is_record(node):
        return Hint(kind="record")
    bases = {_name_of(base) for base in node.bases}
    return Hint(kind="dict") if bases & {"dict", "UserDict"} else OTHER


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return _name_of(function)
        case ast.Subscript(value=base):
            return _name_of(base)
        case _:
            return ""

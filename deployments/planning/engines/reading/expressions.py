"""Expressions of the sources, worked out as far as they are settled; calls stand elsewhere."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from deployments.planning.engines.reading.records import method_of
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)
from deployments.planning.engines.reading.values import (
    PARSER,
    UNKNOWN,
    Member,
    Scope,
    is_known,
    items_of,
    members_of,
)

DEEPEST = 40
TYPING = frozenset({"Literal", "Union", "Optional", "Annotated"})


class Expressions(ABC):
    """Works out expressions; how calls are worked out is for the class below."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._depth = 0

    @abstractmethod
    def call(self, node: ast.Call, scope: Scope) -> object:
        """The value of a call."""

    def value(self, node: ast.AST | None, scope: Scope) -> object:
        """The value of an expression, UNKNOWN if it depends on what is not in the sources."""
        handler = self._handlers().get(type(node))
        if handler is None or self._depth > DEEPEST:
            return UNKNOWN
        self._depth += 1
        try:
            return handler(node, scope)
        finally:
            self._depth -= 1

    def in_module(self, node: ast.AST, module: str) -> object:
        """The value of an expression at the top of a module."""
        return self.value(node, Scope(module))

    def _handlers(self) -> dict[type, Callable[..., object]]:
        return {
            ast.Constant: lambda node, _scope: node.value,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.List: self._list,
            ast.Tuple: self._list,
            ast.Set: self._list,
            ast.Dict: self._dict,
            ast.JoinedStr: self._text,
            ast.BinOp: self._sum,
            ast.BoolOp: self._logic,
            ast.UnaryOp: self._negation,
            ast.Compare: self._comparison,
            ast.ListComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.Lambda: lambda _node, _scope: Symbol("lambda"),
            ast.Call: self.call,
        }

    def _name(self, node: ast.Name, scope: Scope) -> object:
        if node.id in scope.names:
            return scope.names[node.id]
        found = self.tree.find(scope.module, node.id)
        if isinstance(found, Symbol) or found.title:
            return found
        if _is_type(found.node):
            return found
        return self.in_module(found.node, found.module)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> object:
        base = self.value(node.value, scope)
        if base in (UNKNOWN, PARSER):
            return UNKNOWN
        if isinstance(base, Symbol):
            return Symbol(f"{base.name}.{node.attr}")
        if isinstance(base, Member):
            return {"value": base.value, "name": base.name}.get(node.attr, UNKNOWN)
        if isinstance(base, Definition):
            return self._of_class(base, node.attr)
        return UNKNOWN

    def _of_class(self, record: Definition, name: str) -> object:
        if name == "__name__":
            return record.title
        for member in members_of(self.tree, record, self.in_module):
            if member.name == name:
                return member
        found = method_of(self.tree, record, name)
        return Symbol(f"{record.title}.{name}") if found else UNKNOWN

    def _subscript(self, node: ast.Subscript, scope: Scope) -> object:
        if _is_type(node):
            return Definition(scope.module, node)
        base, key = self.value(node.value, scope), self.value(node.slice, scope)
        if isinstance(base, dict):
            return base.get(key, UNKNOWN)
        if isinstance(base, list) and isinstance(key, int):
            return base[key] if -len(base) <= key < len(base) else UNKNOWN
        return UNKNOWN

    def _list(self, node: ast.List, scope: Scope) -> object:
        found: list[object] = []
        for element in node.elts:
            starred = isinstance(element, ast.Starred)
            inner = element.value if isinstance(element, ast.Starred) else element
            value = self.value(inner, scope)
            if not starred:
                found.append(value)
                continue
            items = items_of(self.tree, value, self.in_module)
            if items is None:
                return UNKNOWN
            found.extend(items)
        return found

    def _dict(self, node: ast.Dict, scope: Scope) -> object:
        found: dict[object, object] = {}
        for key, element in zip(node.keys, node.values, strict=True):
            value = self.value(element, scope)
            if key is not None:
                found[self.value(key, scope)] = value
            elif isinstance(value, dict):
                found.update(value)
        return found

    def _text(self, node: ast.JoinedStr, scope: Scope) -> object:
        parts = [
            self.value(
                part.value if isinstance(part, ast.FormattedValue) else part, scope
            )
            for part in node.values
        ]
        if not all(isinstance(part, str) for part in parts):
            return UNKNOWN
        return "".join(part for part in parts if isinstance(part, str))

    def _sum(self, node: ast.BinOp, scope: Scope) -> object:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.BitOr) and isinstance(left, dict):
            return {**left, **right} if isinstance(right, dict) else UNKNOWN
        if isinstance(left, list) and isinstance(right, list):
            return [*left, *right]
        if isinstance(left, str) and isinstance(right, str):
            return left + right
        return UNKNOWN

    def _logic(self, node: ast.BoolOp, scope: Scope) -> object:
        values = [self.value(one, scope) for one in node.values]
        if not all(isinstance(one, bool) for one in values):
            return UNKNOWN
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def _negation(self, node: ast.UnaryOp, scope: Scope) -> object:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not) and isinstance(value, bool):
            return not value
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return -value
        return UNKNOWN

    def _comparison(self, node: ast.Compare, scope: Scope) -> object:
        left = self.value(node.left, scope)
        right = self.value(node.comparators[0], scope)
        if not isinstance(node.ops[0], ast.In | ast.NotIn):
            return UNKNOWN
        if not is_known(left) or not isinstance(right, dict | list):
            return UNKNOWN
        return (left in right) == isinstance(node.ops[0], ast.In)

    def _comprehension(self, node: ast.ListComp, scope: Scope) -> object:
        first = node.generators[0]
        items = items_of(self.tree, self.value(first.iter, scope), self.in_module)
        if items is None or len(node.generators) > 1 or first.ifs:
            return UNKNOWN
        return [
            self.value(node.elt, inner) for inner in bound(scope, first.target, items)
        ]


def bound(scope: Scope, target: ast.expr, items: list[object]) -> Iterator[Scope]:
    """The scope once for each item, the loop's names bound to it."""
    for item in items:
        names = dict(scope.names)
        if isinstance(target, ast.Name):
            names[target.id] = item
        elif isinstance(target, ast.Tuple) and isinstance(item, list):
            for part, value in zip(target.elts, item, strict=False):
                if isinstance(part, ast.Name):
                    names[part.id] = value
        yield Scope(scope.module, names, scope.owner)


def _is_type(node: ast.AST) -> bool:
    base = node.value if isinstance(node, ast.Subscript) else None
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and not isinstance(node.left, ast.Dict)
    return (isinstance(base, ast.Name) and base.id in TYPING) or (
        isinstance(base, ast.Attribute) and base.attr in TYPING
    )

"""Calls in the sources: a few builtins, ``get_kwargs``, and functions that add flags."""

import ast
import copy
from collections.abc import Callable

from deployments.planning.engines.reading.arguments import (
    GetKwargsRules,
    get_kwargs_rules,
    kwargs_of,
)
from deployments.planning.engines.reading.expressions import Expressions
from deployments.planning.engines.reading.hints import hints, literal_options
from deployments.planning.engines.reading.records import method_of
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)
from deployments.planning.engines.reading.values import (
    PARSER,
    UNKNOWN,
    Scope,
    call_dict,
    call_list,
    call_text,
    items_of,
)

TRANSPARENT = frozenset({"optional_type", "parse_type", "deepcopy", "cast"})
"""Functions whose result parses as their last argument does."""
COPIES = frozenset({"list", "tuple", "sorted", "set", "copy"})

Runner = Callable[[Definition, Definition | None, ast.Call, Scope], object]


class Evaluator(Expressions):
    """Works out expressions; ``run`` reads a function of the sources that is called."""

    def __init__(self, tree: SourceTree, run: Runner) -> None:
        super().__init__(tree)
        self._rules: GetKwargsRules = get_kwargs_rules(tree)
        self._run = run

    def call(self, node: ast.Call, scope: Scope) -> object:
        """The value of a call."""
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, scope)
        callee = self.value(node.func, scope)
        arguments = [self.value(one, scope) for one in node.args]
        name = callee.title if isinstance(callee, Definition) else _last(callee)
        known = self._builtin(name, arguments)
        if known is not None:
            return known
        if isinstance(callee, Definition):
            return self._run(callee, None, node, scope)
        return UNKNOWN

    def _builtin(self, name: str, arguments: list[object]) -> object | None:
        """The value of a function that is known by name, ``None`` for any other."""
        first = arguments[0] if arguments else UNKNOWN
        if name == "get_kwargs":
            return self._get_kwargs(first)
        if name in TRANSPARENT and arguments:
            return copy.deepcopy(arguments[-1])
        if name == "get_args" and isinstance(first, Definition):
            return list(literal_options(hints(self.tree, first.module, first.node)))
        if name in COPIES and arguments:
            items = items_of(self.tree, first, self.in_module)
            return UNKNOWN if items is None else items
        return None

    def _get_kwargs(self, record: object) -> object:
        if not isinstance(record, Definition):
            return UNKNOWN
        return copy.deepcopy(kwargs_of(self.tree, self._rules, record))

    def _method(self, node: ast.Call, callee: ast.Attribute, scope: Scope) -> object:
        above = _is_super(callee.value)
        base = scope.owner if above else self.value(callee.value, scope)
        if isinstance(base, Definition):
            return self._method_of_class(node, callee.attr, base, scope)
        arguments = [self.value(one, scope) for one in node.args]
        if base == PARSER and callee.attr.startswith("add_argument"):
            return PARSER
        if _last(base) == "copy" and arguments:
            return copy.deepcopy(arguments[0])
        return _method_of_value(base, callee.attr, arguments)

    def _method_of_class(
        self, node: ast.Call, name: str, base: Definition, scope: Scope
    ) -> object:
        callee = node.func
        above = isinstance(callee, ast.Attribute) and _is_super(callee.value)
        found = method_of(self.tree, base, name, above=above)
        if found is None:
            return UNKNOWN
        receiver = scope.names.get("cls") if above else base
        kept = receiver if isinstance(receiver, Definition) else base
        return self._run(Definition(found[0].module, found[1]), kept, node, scope)


def _method_of_value(base: object, method: str, arguments: list[object]) -> object:
    if isinstance(base, str):
        return call_text(base, method, arguments)
    if isinstance(base, list):
        return call_list(base, method, arguments)
    if isinstance(base, dict):
        return call_dict(base, method, arguments)
    return UNKNOWN


def _is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
    )


def _last(value: object) -> str:
    return value.last if isinstance(value, Symbol) else ""

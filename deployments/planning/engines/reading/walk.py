"""Follows the code that builds the command line of ``vllm serve`` and notes every flag."""

import ast
from dataclasses import dataclass

from deployments.planning.engines.reading.evaluate import Evaluator
from deployments.planning.engines.reading.expressions import bound
from deployments.planning.engines.reading.records import method_of
from deployments.planning.engines.reading.sources import Definition, SourceTree
from deployments.planning.engines.reading.values import (
    PARSER,
    UNKNOWN,
    Scope,
    is_known,
    items_of,
)

DEEPEST_CALL = 12
SERVE_COMMAND = "vllm.entrypoints.cli.serve"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedArgument:
    """One call of ``add_argument``: the spellings and what argparse is told."""

    names: tuple[str, ...]
    settings: dict[str, object]


@dataclass(slots=True)
class _Returned:
    value: object = None
    done: bool = False


class CommandLine:
    """The flags of one version, in the order in which its code adds them."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.added: list[AddedArgument] = []
        self._evaluator = Evaluator(tree, self._call)
        self._calls: list[str] = []

    def read(self) -> list[AddedArgument]:
        """Read ``ServeSubcommand.subparser_init``, which adds all flags of ``vllm serve``."""
        command = self.tree.find(SERVE_COMMAND, "ServeSubcommand")
        if isinstance(command, Definition):
            found = method_of(self.tree, command, "subparser_init")
            if found is not None:
                names: dict[str, object] = {"self": UNKNOWN, "subparsers": PARSER}
                self._body(
                    found[1].body, Scope(found[0].module, names, found[0]), _Returned()
                )
        return self.added

    def _call(
        self,
        function: Definition,
        receiver: Definition | None,
        node: ast.Call,
        scope: Scope,
    ) -> object:
        code = function.node
        if not isinstance(code, ast.FunctionDef) or not self._worth_reading(
            node, scope
        ):
            return UNKNOWN
        if len(self._calls) >= DEEPEST_CALL:
            return UNKNOWN
        names = self._parameters(code, receiver, node, scope)
        returned = _Returned()
        self._calls.append(code.name)
        owner = self._owner(function, receiver)
        self._body(code.body, Scope(function.module, names, owner), returned)
        self._calls.pop()
        return returned.value

    def _worth_reading(self, node: ast.Call, scope: Scope) -> bool:
        """Only functions that get a parser or settings can add flags."""
        values = [self._evaluator.value(one, scope) for one in node.args]
        values += [self._evaluator.value(one.value, scope) for one in node.keywords]
        return any(one == PARSER or isinstance(one, dict) for one in values)

    def _owner(
        self, function: Definition, receiver: Definition | None
    ) -> Definition | None:
        if receiver is None or not isinstance(function.node, ast.FunctionDef):
            return None
        name = function.node.name
        found = method_of(self.tree, receiver, name)
        while found is not None and found[1] is not function.node:
            found = method_of(self.tree, found[0], name, above=True)
        return found[0] if found else receiver

    def _parameters(
        self,
        code: ast.FunctionDef,
        receiver: Definition | None,
        node: ast.Call,
        scope: Scope,
    ) -> dict[str, object]:
        parameters = [one.arg for one in (*code.args.posonlyargs, *code.args.args)]
        names: dict[str, object] = dict.fromkeys(parameters, UNKNOWN)
        for parameter, default in zip(
            reversed(parameters), reversed(code.args.defaults), strict=False
        ):
            names[parameter] = self._evaluator.value(default, scope)
        if receiver is not None and parameters and parameters[0] in {"cls", "self"}:
            names[parameters.pop(0)] = receiver
        for parameter, argument in zip(parameters, node.args, strict=False):
            names[parameter] = self._evaluator.value(argument, scope)
        for keyword in node.keywords:
            if keyword.arg in names:
                names[keyword.arg] = self._evaluator.value(keyword.value, scope)
        return names

    def _body(self, body: list[ast.stmt], scope: Scope, returned: _Returned) -> None:
        for statement in body:
            if returned.done:
                return
            self._statement(statement, scope, returned)

    def _statement(self, node: ast.stmt, scope: Scope, returned: _Returned) -> None:
        match node:
            case ast.Expr(value=value):
                self._expression(value, scope)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._expression(value, scope), scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._expression(value, scope), scope)
            case ast.Delete(targets=targets):
                self._delete(targets, scope)
            case ast.Return(value=value):
                returned.value = self._expression(value, scope) if value else None
                returned.done = True
            case ast.ImportFrom() | ast.Import():
                self._import(node, scope)
            case ast.If() | ast.For() | ast.With() | ast.Try():
                self._block(node, scope, returned)
            case _:
                pass

    def _block(
        self,
        node: ast.If | ast.For | ast.With | ast.Try,
        scope: Scope,
        returned: _Returned,
    ) -> None:
        if isinstance(node, ast.If):
            test = self._evaluator.value(node.test, scope)
            if test is not False:
                self._body(node.body, scope, returned)
            if test is not True:
                self._body(node.orelse, scope, returned)
        elif isinstance(node, ast.For):
            iterated = self._evaluator.value(node.iter, scope)
            items = items_of(self.tree, iterated, self._evaluator.in_module) or []
            for inner in bound(scope, node.target, items):
                self._body(node.body, inner, returned)
        else:
            self._body(node.body, scope, returned)

    def _expression(self, node: ast.expr, scope: Scope) -> object:
        if _called(node) == "add_argument" and isinstance(node, ast.Call):
            return self._add(node, scope)
        if _called(node) in {"add_parser", "add_argument_group"}:
            return PARSER
        return self._evaluator.value(node, scope)

    def _add(self, node: ast.Call, scope: Scope) -> object:
        listed = ast.List(elts=node.args, ctx=ast.Load())
        names = self._evaluator.value(listed, scope)
        settings: dict[str, object] = {}
        for keyword in node.keywords:
            value = self._evaluator.value(keyword.value, scope)
            if keyword.arg is not None:
                settings[keyword.arg] = value
            elif isinstance(value, dict):
                settings.update(value)
        spelled = names if isinstance(names, list) else []
        flags = tuple(
            name for name in spelled if isinstance(name, str) and name.startswith("-")
        )
        if flags:
            self.added.append(AddedArgument(names=flags, settings=settings))
        return UNKNOWN

    def _assign(self, target: ast.expr, value: object, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Subscript):
            base = self._evaluator.value(target.value, scope)
            key = self._evaluator.value(target.slice, scope)
            if isinstance(base, dict) and is_known(key):
                base[key] = value

    def _delete(self, targets: list[ast.expr], scope: Scope) -> None:
        for target in targets:
            if isinstance(target, ast.Subscript):
                base = self._evaluator.value(target.value, scope)
                if isinstance(base, dict):
                    base.pop(self._evaluator.value(target.slice, scope), None)

    def _import(self, node: ast.ImportFrom | ast.Import, scope: Scope) -> None:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                scope.names[one.asname or one.name] = self.tree.find(
                    node.module, one.name
                )


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return ""

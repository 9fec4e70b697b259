"""SourceTree: the Python files of an engine, and what a name in one of them stands for."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

LONGEST_CHAIN = 12
"""Imports that are followed before a name counts as unresolved."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that the sources do not define: a builtin, or something of another package."""

    name: str

    @property
    def last(self) -> str:
        """The last component: ``loads`` of ``json.loads``."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, a function or the right-hand side of an assignment, with the module it stands in."""

    module: str
    node: ast.AST

    @property
    def title(self) -> str:
        """The name of a class or function, empty for an expression."""
        node = self.node
        return (
            node.name
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            else ""
        )


@dataclass(frozen=True, slots=True)
class _Import:
    module: str
    name: str | None


class SourceTree:
    """Python files by path (``vllm/engine/arg_utils.py``), parsed when first asked for."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self._modules: dict[str, ast.Module | None] = {}
        self._names: dict[str, dict[str, ast.AST | _Import]] = {}

    def text(self, path: str) -> str:
        """The content of a file, empty if there is none."""
        return self.files.get(path, "")

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self.files

    def paths(self, prefix: str) -> Iterator[str]:
        """Every path that begins so, in order."""
        return iter(sorted(path for path in self.files if path.startswith(prefix)))

    def module(self, name: str) -> ast.Module | None:
        """The syntax tree of a module, ``None`` if it is missing or cannot be parsed."""
        if name not in self._modules:
            self._modules[name] = _parse(self.text(self.path_of(name)))
        return self._modules[name]

    def path_of(self, module: str) -> str:
        """The file of a dotted module name, a package's ``__init__.py`` included."""
        stem = module.replace(".", "/")
        plain = f"{stem}.py"
        return plain if plain in self.files else f"{stem}/__init__.py"

    def find(self, module: str, name: str, depth: int = 0) -> Definition | Symbol:
        """What a name means in a module, imports followed."""
        bound = self._namespace(module).get(name)
        if bound is None:
            return (
                self._starred(module, name, depth)
                or self._below(module, name)
                or Symbol(name)
            )
        if not isinstance(bound, _Import):
            return Definition(module, bound)
        if bound.name is None:
            return Symbol(bound.module)
        if depth < LONGEST_CHAIN and self.module(bound.module) is not None:
            found = self.find(bound.module, bound.name, depth + 1)
            if isinstance(found, Definition):
                return found
        return Symbol(f"{bound.module}.{bound.name}")

    def _starred(self, module: str, name: str, depth: int) -> Definition | None:
        """What ``from other import *`` brings into the module."""
        if depth >= LONGEST_CHAIN:
            return None
        for bound in self._namespace(module).values():
            if isinstance(bound, _Import) and bound.name == "*":
                found = self.find(bound.module, name, depth + 1)
                if isinstance(found, Definition):
                    return found
        return None

    def _below(self, package: str, name: str) -> Definition | None:
        """A class of a package whose ``__init__`` hands it out lazily."""
        folder = f"{package.replace('.', '/')}/"
        if not self.has(f"{folder}__init__.py"):
            return None
        for path in self.paths(folder):
            inner = path.removeprefix(folder)
            if "/" in inner or f"class {name}" not in self.files[path]:
                continue
            module = f"{package}.{inner.removesuffix('.py')}"
            node = self._namespace(module).get(name)
            if isinstance(node, ast.ClassDef):
                return Definition(module, node)
        return None

    def _namespace(self, module: str) -> dict[str, ast.AST | _Import]:
        if module not in self._names:
            names: dict[str, ast.AST | _Import] = {}
            tree = self.module(module)
            is_package = self.path_of(module).endswith("/__init__.py")
            package = module if is_package else module.rpartition(".")[0]
            for statement in run_time_statements(tree.body if tree else []):
                names.update(_bindings(statement, package))
            self._names[module] = names
        return self._names[module]


def run_time_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run at import: the ``else`` of TYPE_CHECKING, the body of ``try``."""
    for statement in body:
        if isinstance(statement, ast.If):
            typing_only = "TYPE_CHECKING" in ast.dump(statement.test)
            if not typing_only or not statement.orelse:
                yield from run_time_statements(statement.body)
            yield from run_time_statements(statement.orelse)
        elif isinstance(statement, ast.Try):
            yield from run_time_statements(statement.body)
        else:
            yield statement


def _parse(text: str) -> ast.Module | None:
    if not text:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _bindings(statement: ast.stmt, package: str) -> dict[str, ast.AST | _Import]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name: statement}
        case ast.Assign(targets=targets, value=value):
            return {one.id: value for one in targets if isinstance(one, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return {name: value}
        case ast.ImportFrom():
            return _imported_from(statement, package)
        case ast.Import(names=names):
            return {
                one.asname or one.name.partition(".")[0]: _Import(
                    one.name if one.asname else one.name.partition(".")[0], None
                )
                for one in names
            }
        case _:
            return {}


def _imported_from(
    statement: ast.ImportFrom, package: str
) -> dict[str, ast.AST | _Import]:
    base = statement.module or ""
    if statement.level:
        parts = package.split(".")
        above = ".".join(parts[: len(parts) - statement.level + 1])
        base = f"{above}.{base}".rstrip(".")
    return {
        # Several stars may stand in one module, so each is kept by what it takes.
        f"*{base}" if one.name == "*" else one.asname or one.name: _Import(
            base, one.name
        )
        for one in statement.names
    }

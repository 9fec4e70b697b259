"""The fields of a configuration class, inherited ones first."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from deployments.planning.engines.reading.sources import Definition, SourceTree

FIELD_CALLS = frozenset({"field", "Field"})
NOT_FIELDS = ("ClassVar", "InitVar")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordField:
    """One field: its annotation and default as they stand in ``module``; ``given`` as an argument.

    ``validator`` is the method that pydantic calls with its value.
    """

    name: str
    module: str
    annotation: ast.expr
    default: ast.expr | None
    given: bool = True
    validator: ast.FunctionDef | None = None


def fields_of(tree: SourceTree, record: Definition) -> tuple[RecordField, ...]:
    """Every field of a class; a field that is declared again keeps its first place."""
    found: dict[str, RecordField] = {}
    for owner in reversed(lineage(tree, record)):
        for field in _own_fields(owner):
            found[field.name] = field
    return tuple(found.values())


def lineage(tree: SourceTree, record: Definition) -> list[Definition]:
    """The class and its bases as far as the sources hold them, nearest first."""
    found = [record]
    for owner in found:
        node = owner.node
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            if isinstance(base, ast.Name):
                above = tree.find(owner.module, base.id)
                if isinstance(above, Definition) and above not in found:
                    found.append(above)
    return found


def method_of(
    tree: SourceTree, record: Definition, name: str, *, above: bool = False
) -> tuple[Definition, ast.FunctionDef] | None:
    """A method and the class that defines it; ``above`` skips the class itself (``super()``)."""
    for owner in lineage(tree, record)[1 if above else 0 :]:
        for statement in getattr(owner.node, "body", ()):
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                return owner, statement
    return None


def _own_fields(owner: Definition) -> Iterator[RecordField]:
    validators = _validators(owner)
    for statement in getattr(owner.node, "body", ()):
        if not isinstance(statement, ast.AnnAssign):
            continue
        target = statement.target
        if not isinstance(target, ast.Name):
            continue
        if ast.unparse(statement.annotation).startswith(NOT_FIELDS):
            continue
        yield RecordField(
            name=target.id,
            module=owner.module,
            annotation=statement.annotation,
            default=default_of(statement.value),
            given=_is_given(statement.value),
            validator=validators.get(target.id),
        )


def _validators(owner: Definition) -> dict[str, ast.FunctionDef]:
    """Methods under ``@field_validator("name", ...)``, by the names of the fields."""
    return {
        str(word.value): statement
        for statement in getattr(owner.node, "body", ())
        if isinstance(statement, ast.FunctionDef)
        for mark in statement.decorator_list
        if isinstance(mark, ast.Call)
        and isinstance(mark.func, ast.Name)
        and mark.func.id == "field_validator"
        for word in mark.args
        if isinstance(word, ast.Constant)
    }


def default_of(value: ast.expr | None) -> ast.expr | None:
    """The default itself, taken out of ``field(default=...)``; ``None`` if code makes it."""
    if not _is_field_call(value):
        return value
    for keyword in value.keywords if isinstance(value, ast.Call) else ():
        if keyword.arg == "default":
            return keyword.value
    positional = value.args if isinstance(value, ast.Call) else []
    return positional[0] if positional else None


def _is_given(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call) or not _is_field_call(value):
        return True
    return not any(
        keyword.arg == "init"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in value.keywords
    )


def _is_field_call(value: ast.expr | None) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name | ast.Attribute)
        and (value.func.id if isinstance(value.func, ast.Name) else value.func.attr)
        in FIELD_CALLS
    )

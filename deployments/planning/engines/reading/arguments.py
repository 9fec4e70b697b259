"""What vLLM's ``get_kwargs`` makes of a configuration class: one set of argparse settings a field."""

import ast
from collections.abc import Callable
from dataclasses import dataclass

from deployments.planning.engines.reading.hints import (
    NONE,
    Hint,
    hints,
    literal_options,
)
from deployments.planning.engines.reading.records import RecordField, fields_of
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)

ENGINE_ARGUMENTS = "vllm.engine.arg_utils"
BOOLEAN_ACTION = Symbol("argparse.BooleanOptionalAction")
OPTIONAL_SWITCH = {Hint(kind="bool"), Hint(kind="str"), NONE}

Settings = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKwargsRules:
    """How the version's own ``get_kwargs`` treats types, read from its code.

    ``open_literals``: a Literal beside ``str`` names values without refusing others (0.11.1+).
    ``readable``: integer fields that may be written ``8k``. ``mixed``: JSON and text are told apart.
    """

    records: bool
    mixed: bool
    open_literals: bool
    optional_switches: bool
    readable: frozenset[str]


def get_kwargs_rules(tree: SourceTree) -> GetKwargsRules:
    """Read the rules of the version."""
    code = ""
    for name in ("get_kwargs", "_compute_kwargs"):
        found = tree.find(ENGINE_ARGUMENTS, name)
        if isinstance(found, Definition):
            code += ast.unparse(found.node) + "\n"
    literal = tree.find(ENGINE_ARGUMENTS, "literal_to_kwargs")
    words = {
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return GetKwargsRules(
        records="is_dataclass(" in code,
        mixed="union_dict_and_str" in code,
        open_literals=isinstance(literal, Definition)
        and "'metavar'" in ast.unparse(literal.node),
        optional_switches="{bool, str, type(None)}" in code,
        readable=frozenset(words) if "human_readable_int" in code else frozenset(),
    )


def kwargs_of(
    tree: SourceTree, rules: GetKwargsRules, record: Definition
) -> dict[str, Settings]:
    """Settings of every field of a class, by field name."""
    return {
        field.name: field_settings(tree, rules, field)
        for field in fields_of(tree, record)
    }


def field_settings(
    tree: SourceTree, rules: GetKwargsRules, field: RecordField
) -> Settings:
    """Settings of one field: ``type``, ``action``, ``nargs``, ``choices``."""
    found = hints(tree, field.module, field.annotation)
    settings = _settings(rules, field.name, found)
    listed = literal_options(found)
    if listed and "choices" not in settings and _refuses_others(tree, field):
        settings["choices"] = list(listed)
    inner = settings.pop("inner", ())
    options = literal_options(inner if isinstance(inner, tuple) else ())
    if options:
        settings["choices"] = list(options)
    if NONE in found and isinstance(settings.get("choices"), list):
        settings["choices"] = [*_strings(settings["choices"]), "None"]
    return settings


def _refuses_others(tree: SourceTree, field: RecordField) -> bool:
    """Whether the field's validator asks if its value is in the list made from the Literal.

    The parser takes any text then, and the engine ends at the configuration (``cache_dtype``, 0.33).
    """
    called = [
        tree.find(field.module, node.func.id)
        for node in ast.walk(field.validator or ast.Pass())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    lists = [
        tree.find(one.module, node.comparators[0].id)
        for one in called
        if isinstance(one, Definition) and isinstance(one.node, ast.FunctionDef)
        for node in ast.walk(one.node)
        if isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.In)
        and isinstance(node.comparators[0], ast.Name)
    ]
    aliases = {
        name.id for name in ast.walk(field.annotation) if isinstance(name, ast.Name)
    }
    return any(
        isinstance(one, Definition)
        and "get_args" in ast.unparse(one.node)
        and any(f"({name})" in ast.unparse(one.node) for name in aliases)
        for one in lists
    )


def _settings(rules: GetKwargsRules, name: str, found: tuple[Hint, ...]) -> Settings:
    kinds = {hint.kind for hint in found}
    if rules.records and "record" in kinds:
        return {"type": Symbol("record")}
    if rules.optional_switches and set(found) == OPTIONAL_SWITCH:
        return {"type": Symbol("str"), "nargs": "?", "const": True}
    for kind, make in _BY_KIND:
        if kind in kinds:
            return make(rules, name, found)
    return {"type": Symbol("str")}


def _literal(rules: GetKwargsRules, _name: str, found: tuple[Hint, ...]) -> Settings:
    options = literal_options(found)
    kind = Symbol(type(options[0]).__name__) if options else Symbol("str")
    if rules.open_literals and any(hint.kind == "str" for hint in found):
        return {"type": kind}
    return {"type": kind, "choices": list(options)}


def _collection(
    _rules: GetKwargsRules, _name: str, found: tuple[Hint, ...]
) -> Settings:
    hint = next(one for one in found if one.kind in {"tuple", "list", "set"})
    member = hint.inner[0] if hint.inner else Hint(kind="str")
    kind = "str" if len(hint.inner) > 1 else member.kind
    fixed = hint.kind == "tuple" and hint.length is not None
    return {
        "type": Symbol(kind),
        "nargs": hint.length if fixed else "+",
        "inner": hint.inner,
    }


def _integer(rules: GetKwargsRules, name: str, _found: tuple[Hint, ...]) -> Settings:
    return {"type": Symbol("human_readable_int" if name in rules.readable else "int")}


def _mapping(rules: GetKwargsRules, _name: str, found: tuple[Hint, ...]) -> Settings:
    others = {hint.kind for hint in found} & {"str", "other", "record"}
    return {
        "type": Symbol("union_dict_and_str" if others and rules.mixed else "json.loads")
    }


_BY_KIND: tuple[
    tuple[str, Callable[[GetKwargsRules, str, tuple[Hint, ...]], Settings]], ...
] = (
    ("bool", lambda _rules, _name, _found: {"action": BOOLEAN_ACTION}),
    ("literal", _literal),
    ("tuple", _collection),
    ("list", _collection),
    ("set", _collection),
    ("int", _integer),
    ("float", lambda _rules, _name, _found: {"type": Symbol("float")}),
    ("dict", _mapping),
)


def _strings(values: object) -> list[object]:
    return list(values) if isinstance(values, list) else []

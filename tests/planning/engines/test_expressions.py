"""Single expressions and annotations of the sources, as older and newer releases write them."""

import ast

import pytest

from deployments.planning.engines.reading.evaluate import Evaluator
from deployments.planning.engines.reading.hints import Hint, hints
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)
from deployments.planning.engines.reading.values import PARSER, UNKNOWN, Scope

MODULE = """
import argparse
import copy
import json as js
from enum import Enum
from typing import TYPE_CHECKING, Literal, Optional, get_args
from . import sibling
from .sibling import COUNT
from ..top import METHODS
from pkg.lazy import Late

if TYPE_CHECKING:
    from pkg.other import Hidden
else:
    Hidden = str

try:
    import fast
    MODE = "fast"
except ImportError:
    MODE = "slow"

Kind = Literal["b", "a"]
NAMES: list[str] = ["x", "y"]
PAIRS = {"one": 1, **{"two": 2}}
LOOP = LOOP

class Colour(Enum):
    RED = "red"
    BLUE = "blue"
    _private = "no"

    @classmethod
    def mixed(cls): ...

class Deep(dict): ...
class Wide(Colour): ...

@dataclass
class Record:
    size: int = 1
"""
TREE = SourceTree(
    {
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "",
        "pkg/sub/main.py": MODULE,
        "pkg/sub/sibling.py": "COUNT = 3",
        "pkg/top.py": 'METHODS = ["awq", "gptq"]',
        "pkg/lazy/__init__.py": "def __getattr__(name): ...",
        "pkg/lazy/late.py": "class Late:\n    pass",
        "pkg/broken.py": "def (",
    }
)
HERE = "pkg.sub.main"


def _value(text: str, **names: object) -> object:
    evaluator = Evaluator(TREE, lambda *_call: "run")
    node = ast.parse(text, mode="eval").body
    return evaluator.value(node, Scope(HERE, dict(names)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a' + 'b'", "ab"),
        ("['a'] + ['b']", ["a", "b"]),
        ("['a'] + ([d] if d else [])", UNKNOWN),
        ("{'a': 1} | {'b': 2}", {"a": 1, "b": 2}),
        ("{'a': 1} | unknown", UNKNOWN),
        ("1 * 2", UNKNOWN),
        ("-1", -1),
        ("not True", False),
        ("not unknown", UNKNOWN),
        ("True and False", False),
        ("True or False", True),
        ("True and unknown", UNKNOWN),
        ("'x' in NAMES", True),
        ("'z' not in NAMES", True),
        ("'x' in sys.argv[1:]", UNKNOWN),
        ("1 == 1", UNKNOWN),
        ("NAMES[0]", "x"),
        ("NAMES[7]", UNKNOWN),
        ("PAIRS['two']", 2),
        ("PAIRS['three']", UNKNOWN),
        ("unknown[0]", UNKNOWN),
        ("[*METHODS, None]", ["awq", "gptq", None]),
        ("[*unknown]", UNKNOWN),
        ("COUNT", 3),
        ("MODE", "fast"),
        ("LOOP", UNKNOWN),
        ("js.loads", Symbol("json.loads")),
        ("argparse.BooleanOptionalAction", Symbol("argparse.BooleanOptionalAction")),
        ("lambda s: s", Symbol("lambda")),
        ("get_args(Kind)", ["b", "a"]),
        ("list(PAIRS)", ["one", "two"]),
        ("sorted(unknown)", UNKNOWN),
        ("list(NAMES.copy())", ["x", "y"]),
        ("PAIRS.keys()", ["one", "two"]),
        ("PAIRS.values()", [1, 2]),
        ("PAIRS.items()", [["one", 1], ["two", 2]]),
        ("PAIRS.get('three', 3)", 3),
        ("PAIRS.copy()", {"one": 1, "two": 2}),
        ("PAIRS.popitem()", UNKNOWN),
        ("copy.deepcopy(PAIRS)", {"one": 1, "two": 2}),
        ("optional_type(js.loads)", Symbol("json.loads")),
        ("'A-B'.lower().replace('-', '_')", "a_b"),
        ("'a'.encode()", UNKNOWN),
        ("f\"{'a'}-{MODE}\"", "a-fast"),
        ("f'{unknown}'", UNKNOWN),
        ("Colour.RED.value", "red"),
        ("Colour.RED.name", "RED"),
        ("Colour.RED.colour", UNKNOWN),
        ("Colour.GREEN", UNKNOWN),
        ("Colour.mixed", Symbol("Colour.mixed")),
        ("Wide.BLUE.value", "blue"),
        ("Record.__name__", "Record"),
        ("[c.value for c in Colour]", ["red", "blue"]),
        ("[c for c in Colour if c]", UNKNOWN),
        ("[c for c in unknown]", UNKNOWN),
        ("[k for k, v in PAIRS.items()]", ["one", "two"]),
        ("get_kwargs(unknown)", UNKNOWN),
        ("unknown.attribute", UNKNOWN),
        ("os.path.sep", Symbol("os.path.sep")),
        ("unknown()", UNKNOWN),
        ("(yield)", UNKNOWN),
        ("Record.missing()", UNKNOWN),
        ("1 .real", UNKNOWN),
    ],
)
def test_expression_is_worked_out_or_unknown(text: str, value: object) -> None:
    assert _value(text, unknown=UNKNOWN) == value


def test_lists_and_dictionaries_change_in_place() -> None:
    names: dict[str, object] = {"some": ["a", "b"], "more": {"k": 1}}
    for text in (
        "some.remove('a')",
        "some.remove('z')",
        "some.append('c')",
        "some.extend(['d'])",
        "some.extend(unknown)",
        "more.update({'l': 2})",
        "more.pop('k')",
    ):
        _value(text, **names)
    assert names == {"some": ["b", "c", "d"], "more": {"l": 2}}


def test_parser_gives_groups_and_functions_are_handed_on() -> None:
    assert _value("p.add_argument_group('x')", p=PARSER) == PARSER
    assert _value("Colour.mixed(1)") == "run"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("Optional[int]", ("int", "none")),
        ("int | None", ("int", "none")),
        ("'int | None'", ("int", "none")),
        ("'int |'", ("other",)),
        ("Union[str, List[str]]", ("str", "list")),
        ("Annotated[float, Field(gt=0)]", ("float",)),
        ("typing.Optional[bool]", ("bool", "none")),
        ("Hidden", ("str",)),
        ("Kind", ("literal",)),
        ("Colour", ("other",)),
        ("Deep", ("dict",)),
        ("Record", ("record",)),
        ("type[Record]", ("other",)),
        ("Late", ("other",)),
        ("get_args", ("other",)),
        ("3", ("other",)),
    ],
)
def test_annotation_has_its_members(annotation: str, expected: tuple[str, ...]) -> None:
    node = ast.parse(annotation, mode="eval").body
    assert tuple(hint.kind for hint in hints(TREE, HERE, node)) == expected


def test_collections_keep_members_and_length() -> None:
    node = ast.parse("tuple[int, ...] | tuple[str, str]", mode="eval").body
    whole, text = Hint(kind="int"), Hint(kind="str")
    assert hints(TREE, HERE, node) == (
        Hint(kind="tuple", inner=(whole,), length=None),
        Hint(kind="tuple", inner=(text,), length=2),
    )


def test_literal_of_literals_is_flat() -> None:
    node = ast.parse("Literal['c', Kind]", mode="eval").body
    assert hints(TREE, HERE, node)[0].options == ("c", "b", "a")


@pytest.mark.parametrize(
    ("module", "name", "found"),
    [
        (HERE, "sibling", Symbol("pkg.sub.sibling")),
        (HERE, "fast", Symbol("fast")),
        ("pkg.broken", "anything", Symbol("anything")),
        ("pkg.nowhere", "int", Symbol("int")),
    ],
)
def test_name_that_is_not_in_the_sources_is_a_symbol(
    module: str, name: str, found: Symbol
) -> None:
    assert TREE.find(module, name) == found


def test_class_that_a_package_hands_out_lazily_is_found() -> None:
    found = TREE.find(HERE, "Late")
    assert isinstance(found, Definition)
    assert (found.module, found.title) == ("pkg.lazy.late", "Late")

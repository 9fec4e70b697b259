"""Every way around an approval is tried by a test, here or where its subject lives."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.authz.attempts import ELSEWHERE

ATTEMPTS = range(1, 45)
HERE = Path(__file__).parent
TOP = HERE.parent.parent


@cache
def names_in(path: Path) -> frozenset[str]:
    """The names of the tests of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return frozenset(name for name in names if name.startswith("test_"))


def numbers_here() -> list[int]:
    """The attempts that tests of this folder are named after."""
    names = [name for path in HERE.glob("test_bypass_*.py") for name in names_in(path)]
    return [
        int(found[1]) for name in names if (found := re.match(r"test_b(\d\d)_", name))
    ]


def test_every_attempt_is_tried_and_none_twice_over() -> None:
    here = numbers_here()
    assert sorted({*here, *ELSEWHERE}) == list(ATTEMPTS)
    assert not set(here) & set(ELSEWHERE)


def test_what_is_tried_elsewhere_is_there() -> None:
    for subject, places in ELSEWHERE.values():
        assert subject
        for place in places:
            path, _, name = place.partition("::")
            assert name in names_in(TOP / path), place

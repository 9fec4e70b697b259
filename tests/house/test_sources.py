"""Rules that every source file keeps."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.house.sources import PRODUCT, TOP, name_of, python_files

LONGEST, LONGEST_TEST = 400, 500
FORBIDDEN = {
    "a shell": r"shell=True|os\.system\(|os\.popen\(",
    "code from data": r"\bpickle\b|\bmarshal\b|(?<![\w.])eval\(|(?<![\w.])exec\(",
    "unsafe YAML": r"yaml\.(load|full_load|unsafe_load)\(",
    "unescaped HTML": r"\bmark_safe\b|SafeString\(|\|\s*safe\b|autoescape off",
    "raw SQL": r"\.extra\(|\bRawSQL\b|\.objects\.raw\(",
    "unchecked queries": r"\*\*request\.(GET|POST)",
    "a machine's path": r"/(home|Users)/\w+/",
}
FORBIDDEN_IN_PAGES = {
    "unescaped HTML": r"\|\s*safe\b|autoescape off|safeseq",
    "inline code": r"\bon(click|load|change|submit)=|\bhx-on|js:|<style|\sstyle=",
    "inline script": r"<script(?![^>]*\bsrc=)",
    "a change by GET": r"hx-(delete|put|patch)",
    "what has no template of its own": r"hx-boost",
}
VAGUE = {"utils", "helpers", "common", "misc", "handlers"}


@cache
def text_of(path: Path) -> str:
    """Return what is in a file."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(text_of(path))


def offences(paths: list[Path], rules: dict[str, str]) -> dict[str, list[str]]:
    """Return the rules that each file breaks."""
    found = {
        name_of(path): [why for why, rule in rules.items() if re.search(rule, text)]
        for path in paths
        for text in [text_of(path)]
    }
    return {name: broken for name, broken in found.items() if broken}


def test_no_file_outgrows_its_room() -> None:
    """Split by noun before a file is too long to be held in view."""
    lengths = {
        path: len(text_of(path).splitlines())
        for path in python_files(*PRODUCT, "tests")
    }
    too_long = {
        name_of(path): length
        for path, length in lengths.items()
        if length > (LONGEST_TEST if path.is_relative_to(TOP / "tests") else LONGEST)
    }
    assert too_long == {}


def test_no_product_file_holds_what_is_forbidden() -> None:
    """Each pattern has let somebody in before, in some other panel."""
    assert offences(python_files(*PRODUCT), FORBIDDEN) == {}


def test_no_template_holds_what_the_policy_forbids() -> None:
    """The content security policy would block it, or the house rules forbid it."""
    templates = sorted(TOP.glob("templates/**/*.html"))
    assert templates
    assert offences(templates, FORBIDDEN_IN_PAGES) == {}


def test_module_names_say_something() -> None:
    """A name that fits everything collects everything."""
    vague = [
        name_of(path)
        for path in python_files(*PRODUCT)
        if VAGUE & {*path.relative_to(TOP).parts, path.stem}
    ]
    assert vague == []


def test_every_module_says_what_it_is_for() -> None:
    """One docstring for a module that holds anything."""
    silent = [
        name_of(path)
        for path in python_files(*PRODUCT, "tests")
        if tree_of(path).body and not ast.get_docstring(tree_of(path))
    ]
    assert silent == []


def test_public_classes_and_functions_have_docstrings() -> None:
    """Views, models, services, errors and core types among them."""
    bare = [
        f"{name_of(path)}: {node.name}"
        for path in python_files("deployments", "panel")
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert bare == []


def test_product_does_not_depend_on_its_tests() -> None:
    """What runs in production must not need what only a checkout has."""
    rule = {"imports tests": r"(?m)^\s*(from|import) tests\b"}
    shipped = [part for part in PRODUCT if part != "benchmarks"]
    assert len(shipped) == len(PRODUCT) - 1
    assert offences(python_files(*shipped), rule) == {}

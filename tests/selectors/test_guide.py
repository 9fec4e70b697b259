"""Findings, diagnoses, methods and fields lead to a place of the guide that exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django import forms

from deployments.forms.wizard.details import ROLES, DetailsFields, role_fields
from deployments.forms.wizard.steps import (
    HardwareFields,
    MethodFields,
    ModelFields,
    WorkloadFields,
)
from deployments.planning.failures.known import BY_CODE
from deployments.planning.methods import Method
from deployments.planning.variables import BEHIND_ROUTER, EXPLANATIONS
from deployments.selectors.guide import (
    CATEGORIES,
    DIAGNOSES,
    FIELDS,
    LANGUAGES,
    RULES,
    SLUGS,
    Place,
    chapters,
    place_of,
)
from deployments.templatetags.guide import cite, field_help, guide_address, why
from tests.guide_text import anchors

SENTENCE_END = re.compile(r"[.?!](?=\s|$)")
STEPS = (ModelFields, HardwareFields, WorkloadFields, MethodFields, DetailsFields)


def strings_named(folder: Path, name: str, files: str) -> Iterator[str]:
    """Every text that is passed under a name, or first to ``_finding``, in files of a folder."""
    for path in sorted(folder.glob(files)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            given = [one.value for one in node.keywords if one.arg == name]
            if name == "code" and getattr(node.func, "id", "") == "_finding":
                given += node.args[:1]
            for value in given:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value


def all_fields() -> dict[str, forms.Field]:
    """Every field of the wizard by its name."""
    found = {name: field for form in STEPS for name, field in form.base_fields.items()}
    for role in ROLES:
        found |= role_fields(role)
    return found


def test_every_rule_has_an_entry(repository: Path) -> None:
    """What a plan is checked for; a finding that nobody explains is an order without a reason."""
    rules = repository / "deployments/planning/rules"
    codes = set(strings_named(rules, "code", "*.py"))
    asked = EXPLANATIONS.keys() - BEHIND_ROUTER.keys()
    codes |= {f"{variable}_UNKNOWN" for variable in asked}
    assert codes == set(RULES)


def test_every_diagnosis_has_a_place(repository: Path) -> None:
    """The log reader recognises nothing that the guide does not know."""
    folder = repository / "deployments/telemetry/diagnosis"
    assert set(DIAGNOSES) <= BY_CODE.keys() | set(strings_named(folder, "code", "*.py"))
    lost = [
        code for code, one in BY_CODE.items() if place_of(code, one.category) is None
    ]
    assert lost == []


def test_every_category_has_a_place(repository: Path) -> None:
    """Rules over launches are many; those without an entry lead to what they are about."""
    folder = repository / "deployments/planning/rules"
    named = set(strings_named(folder, "category", "**/*.py"))
    named |= {one.category for one in BY_CODE.values()}
    assert named <= set(CATEGORIES)
    assert why("SOMETHING_NEW", "quoting") == "/guide/parameters/#quoting"
    assert why("MTP_LAYER_REUSED", "quoting") == "/guide/rules/#rule-MTP_LAYER_REUSED"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_place_exists(language: str) -> None:
    """No link leads to a section that is not there."""
    places = [place_of(code) for code in (*RULES, *DIAGNOSES, *Method)]
    places += [*CATEGORIES.values(), *(told.place for told in FIELDS.values())]
    missing = [
        place
        for place in places
        if place is None or (place.chapter, place.anchor) not in anchors(language)
    ]
    assert missing == []


def test_links_are_addresses_with_anchors() -> None:
    """What is unknown has no link, and shows none."""
    assert why("MTP_LAYER_REUSED") == "/guide/rules/#rule-MTP_LAYER_REUSED"
    assert why("VOCABULARY_MISMATCH") == "/guide/methods/#method-draft_model"
    assert why("eagle3") == "/guide/methods/#method-eagle3"
    assert why("off") == why("") == ""
    told = field_help("combined_tp")
    assert told is not None
    assert guide_address(told) == "/guide/disaggregation/#layout"
    assert field_help("nothing") is None
    assert place_of("nothing") is None
    assert Place("why", "load") == Place("why", "load")


def test_chapters_follow_the_language_of_the_page() -> None:
    """A language without chapters reads the English ones."""
    assert chapters("zh-hans")[0].body == "guide/zh_Hans/why.html#body"
    assert chapters("fr")[0].title == "guide/en/why.html#title"
    assert [one.number for one in chapters()] == list(range(1, len(SLUGS) + 1))


def test_every_field_has_a_source_and_a_place() -> None:
    """Also the numbers of each role."""
    names = {name.removeprefix("combined_") for name in all_fields()}
    assert names == set(FIELDS)
    assert [name for name, told in FIELDS.items() if not str(told.source)] == []


@pytest.mark.parametrize("name", sorted(all_fields()))
def test_every_field_explains_itself_in_two_sentences(name: str) -> None:
    """What it is, and what follows from it."""
    text = str(all_fields()[name].help_text)
    assert len(SENTENCE_END.findall(text)) == 2, text


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("vllm#25993", "https://github.com/vllm-project/vllm/issues/25993"),
        ("vllm-ascend#5974", "https://github.com/vllm-project/vllm-ascend/issues/5974"),
        ("arXiv 2503.01840, table 5", "https://arxiv.org/abs/2503.01840"),
    ],
)
def test_issues_and_papers_are_links(reference: str, address: str) -> None:
    assert f'href="{address}"' in cite(reference)


def test_other_sources_are_text() -> None:
    assert cite("vLLM <0.9>") == "<cite>vLLM &lt;0.9&gt;</cite>"
    assert "<a" not in cite("unknown#12")

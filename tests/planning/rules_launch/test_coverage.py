"""Everything that the references list is judged by a rule, by a known failure, or said to be unseen."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deployments.planning.failures.known import KNOWN_FAILURES
from deployments.planning.rules.cards import PLAN_CARDS
from deployments.planning.rules.launch.lint import CARDS
from deployments.planning.shipped_yaml import read_shipped_yaml

FILE = Path(__file__).parent / "coverage.yaml"
ERRORS = {"vllm_errors": 75, "ascend_errors": 58}
PITFALLS = 7


@cache
def _tables() -> dict[str, dict[Any, dict[str, Any]]]:
    tables: dict[str, dict[Any, dict[str, Any]]] = read_shipped_yaml(
        FILE.read_text(encoding="utf-8")
    )
    return tables


@pytest.mark.parametrize("table", _tables())
def test_every_item_names_codes_that_exist(table: str) -> None:
    rules = {card.code for card in CARDS} | {card.code for card in PLAN_CARDS}
    failures = {one.code for one in KNOWN_FAILURES}
    for item, found in _tables()[table].items():
        named = set(found.get("rules", ()))
        shown = set(found.get("failures", ()))
        assert named <= rules, item
        assert shown <= failures, item
        assert named or shown or found.get("unseen"), item


@pytest.mark.parametrize("table", ERRORS)
def test_every_error_of_a_reference_has_its_row(table: str) -> None:
    assert list(_tables()[table]) == list(range(1, ERRORS[table] + 1))


def test_every_pitfall_is_judged() -> None:
    pitfalls = _tables()["pitfalls"].values()
    assert len(pitfalls) == PITFALLS
    assert not any("unseen" in one for one in pitfalls)

"""The golden plans: a change of any byte is a change somebody decided."""

import json

import pytest

from deployments.planning.plan import plan_from_document
from tests.planning.builders import GOLDEN
from tests.planning.cases import CASES
from tests.planning.write_golden import golden_text


@pytest.mark.parametrize("name", CASES)
def test_plan_equals_its_golden_file(name: str) -> None:
    expected = (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
    assert golden_text(CASES[name]()) == expected


@pytest.mark.parametrize("name", CASES)
def test_stored_plan_reads_back_as_it_was(name: str) -> None:
    made = CASES[name]()
    stored = json.loads(json.dumps(made.document))
    again = plan_from_document(stored)
    assert again == made
    assert again.digest == made.digest


def test_golden_folder_holds_no_forgotten_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(CASES)

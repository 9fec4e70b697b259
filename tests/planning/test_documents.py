"""Stored plans: what cannot be read back as it was is refused."""

import copy

import pytest

from deployments.planning.canonical import Json, canonical_json
from deployments.planning.documents import from_document, to_document
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, plan_from_document
from deployments.planning.revision import RoleSpec
from tests.planning.cases import practice


@pytest.fixture(scope="module")
def stored() -> dict[str, Json]:
    return practice().document


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"schema_version": 0}, "schema version 0; this panel reads version 1"),
        ({"replicas": 3}, "The stored Plan cannot be read: replicas"),
        ({"colour": "blue"}, "holds more than this panel reads"),
    ],
)
def test_other_plan_is_refused(
    stored: dict[str, Json], change: dict[str, Json], sentence: str
) -> None:
    with pytest.raises(PlanningError, match=sentence):
        plan_from_document({**copy.deepcopy(stored), **change})


def test_text_is_no_plan() -> None:
    with pytest.raises(PlanningError, match="does not say with which schema version"):
        plan_from_document("plan")


def test_number_beyond_exactness_and_decimals_are_refused() -> None:
    with pytest.raises(PlanningError, match="too large to be kept exactly"):
        canonical_json({"a": [2**53 + 1]})
    with pytest.raises(PlanningError, match="decimal numbers as text"):
        canonical_json({"a": 0.9})


def test_value_without_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_document(object())


def test_missing_key_is_named() -> None:
    with pytest.raises(PlanningError, match="stored RoleSpec cannot be read: hosts"):
        from_document(RoleSpec, {"role": "combined"})


def test_plan_without_replicas_cannot_be_submitted(stored: dict[str, Json]) -> None:
    made: Plan = plan_from_document({**stored, "replicas": []})
    assert not made.can_submit
    assert not made.practice

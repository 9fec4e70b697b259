"""Each rule over plans: a deployment spec that it speaks on, and a near miss; its page shows the same."""

import pytest

from deployments.planning.rules.cards import PLAN_CARDS
from deployments.planning.rules.plan_examples import plan_examples
from tests.planning.rules_launch.judging import known

CODES = [card.code for card in PLAN_CARDS]


@pytest.mark.parametrize("code", CODES)
def test_a_rule_speaks_on_its_spec_and_not_on_the_near_miss(code: str) -> None:
    example = plan_examples()[code]
    told = {one.code: one for one in example.fires.findings(known()) or ()}
    assert code in told
    assert told[code].fix
    assert told[code].source
    missed = example.misses.findings(known())
    assert missed is not None
    assert code not in {one.code for one in missed}


@pytest.mark.parametrize("code", CODES)
def test_a_near_miss_differs_from_its_case(code: str) -> None:
    example = plan_examples()[code]
    assert example.fires.content != example.misses.content


def test_a_model_that_nobody_knows_has_no_findings() -> None:
    sample = plan_examples()["PORT_TAKEN"].fires
    assert sample.findings(type(known())()) is None

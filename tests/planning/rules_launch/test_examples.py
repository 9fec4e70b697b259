"""Each launch rule: one launch that it fires on, and a near miss; the reference pages show the same."""

import pytest

from deployments.planning.rules.launch.examples import Example, Sample, examples
from deployments.planning.rules.launch.lint import CARDS
from deployments.planning.rules.launch.settings import LintSettings
from tests.planning.rules_launch.judging import codes, judged, known, ngram


@pytest.mark.parametrize("example", examples(), ids=lambda one: str(one.code))
def test_a_rule_fires_on_its_case_and_not_on_the_near_miss(example: Example) -> None:
    assert example.code in codes(example.fires.report(known()))
    assert example.code not in codes(example.misses.report(known()))


def test_every_rule_has_its_case() -> None:
    assert {card.code for card in CARDS} == {one.code for one in examples()}


def test_a_near_miss_differs_from_what_fires() -> None:
    for one in examples():
        assert one.fires != one.misses, one.code


def test_facts_that_an_example_needs_are_those_of_its_model() -> None:
    sample = Sample(
        content="vllm serve zai-org/GLM-5.2 --tensor-parallel-size 7",
        settings=LintSettings(),
        catalog={"key": "zai-org/GLM-5.2", "heads": 49},
    )
    assert "HEADS_NOT_DIVISIBLE" not in codes(sample.report(known()))


def test_every_card_says_what_it_is_about_how_to_mend_it_and_who_says_so() -> None:
    names = [card.code for card in CARDS]
    assert len(names) == len(set(names))
    for card in CARDS:
        assert card.summary.endswith(".")
        assert card.fix.endswith(".")
        assert card.source
        assert card.versions


def test_a_launch_without_faults_is_accepted() -> None:
    assert judged(ngram(), "0.32.0").verdict == "accept"

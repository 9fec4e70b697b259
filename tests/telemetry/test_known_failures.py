"""Every known failure is recognised on a line of its own, and not on its near miss."""

import re

import pytest

from deployments.planning.failures.known import BY_CODE, KNOWN_FAILURES
from deployments.planning.failures.signature import Signature
from deployments.planning.text import fields_of
from deployments.selectors.rules import CATEGORY_TITLES
from deployments.telemetry.diagnosis import diagnose_text

every_failure = pytest.mark.parametrize(
    "failure", KNOWN_FAILURES, ids=lambda one: one.code
)


def codes_of(log: str) -> set[str]:
    return {found.code for found in diagnose_text(log)}


@every_failure
def test_its_line_is_recognised_and_names_it_alone(failure: Signature) -> None:
    found = codes_of(failure.shows)
    assert failure.code in found
    assert found - {failure.code} <= set(), found


@every_failure
def test_its_line_is_recognised_in_the_log_of_a_container(failure: Signature) -> None:
    lines = [
        f"2026-11-29T15:22:57.123456789Z (EngineCore pid=129) ERROR 11-29 15:04:05 [core.py:710] {line}"
        for line in failure.shows.splitlines()
    ]
    assert failure.code in codes_of("\n".join(lines))


@every_failure
def test_its_near_miss_is_passed_over(failure: Signature) -> None:
    assert failure.code not in codes_of(failure.misses)


@every_failure
def test_it_says_enough(failure: Signature) -> None:
    names = set(re.compile(failure.pattern).groupindex)
    assert fields_of(failure.cause.template) | fields_of(failure.fix.template) <= names
    assert failure.category in CATEGORY_TITLES
    assert failure.source
    assert any(anchor in failure.shows for anchor in failure.anchors)
    assert failure.shows != failure.misses


def test_codes_are_unique() -> None:
    assert len(BY_CODE) == len(KNOWN_FAILURES) >= 130

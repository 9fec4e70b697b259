"""Launches as people write them: verdict, categories, method and count are those of the references."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deployments.planning.rules.launch.lint import LintReport
from deployments.planning.shipped_yaml import read_shipped_yaml
from tests.planning.rules_launch.judging import judged

FOLDER = Path(__file__).parent / "variants"
FEWEST = 150


@cache
def _variants() -> tuple[dict[str, Any], ...]:
    files = sorted(FOLDER.glob("*.yaml"))
    return tuple(
        one
        for file in files
        for one in read_shipped_yaml(file.read_text(encoding="utf-8"))
    )


def _judged(variant: dict[str, Any]) -> LintReport:
    more = {key: str(variant[key]) for key in ("engine", "platform") if key in variant}
    version = variant.get("version")
    return judged(variant["input"], None if version is None else str(version), **more)


@pytest.mark.parametrize("variant", _variants(), ids=lambda one: str(one["name"]))
def test_a_launch_gets_the_verdict_that_it_deserves(variant: dict[str, Any]) -> None:
    report = _judged(variant)
    said = [f"{one.severity.value} {one.code}" for one in report.findings]
    assert report.verdict == variant["verdict"], said
    categories = {one.category for one in report.findings}
    assert categories >= set(variant.get("categories", ())), said


@pytest.mark.parametrize(
    "variant",
    [one for one in _variants() if "method" in one or "k" in one],
    ids=lambda one: str(one["name"]),
)
def test_a_launch_is_read_with_its_method_and_count(variant: dict[str, Any]) -> None:
    speculation = _judged(variant).source.launches[0].speculation
    if "method" in variant:
        assert (speculation.method if speculation else None) == variant["method"]
    if "k" in variant:
        count = speculation.num_speculative_tokens if speculation else None
        assert count == variant["k"]


def test_there_are_many_of_them_with_names_of_their_own() -> None:
    names = [one["name"] for one in _variants()]
    assert len(names) >= FEWEST
    assert len(set(names)) == len(names)

"""No documented launch and no published recipe is called wrong.

A recipe names the release that the model runs from. Its optional features and ways to draft often
came later, so the release is read as the lower bound of a range: the first release from there on
that runs the command is judged, and an info says so.
"""

import pytest

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.lint import LintReport, lint
from deployments.planning.rules.launch.lower_bound import RAISED
from deployments.planning.rules.launch.settings import LintSettings
from tests.planning.documented.launches import DocumentedLaunch, documented_launches
from tests.planning.documented.recipes import RecipeLaunch, recipe_launches
from tests.planning.rules_launch.judging import judged, known, on_ascend

LANGUAGE_ONLY = "vllm serve org/model --language-model-only"


def _errors(report: LintReport) -> list[str]:
    return [
        f"{one.code}: {one.message}"
        for one in report.findings
        if one.severity is Severity.ERROR
    ]


def _from(recipe: RecipeLaunch) -> LintReport:
    settings = LintSettings(engine="vllm", engine_version=f">={recipe.since}")
    return lint(recipe.script, settings, known())


@pytest.mark.parametrize(
    "documented",
    [pytest.param(one, id=one.place) for one in documented_launches()],
)
def test_no_documented_launch_has_an_error(documented: DocumentedLaunch) -> None:
    assert _errors(on_ascend(documented.script)) == []


def test_no_recipe_has_an_error_from_its_own_release_on() -> None:
    reports = {one.name: _from(one) for one in recipe_launches()}
    assert len(reports) > 350
    wrong = {name: found for name, one in reports.items() if (found := _errors(one))}
    assert wrong == {}


def test_a_range_that_begins_too_early_says_where_the_launch_begins_to_run() -> None:
    report = judged(LANGUAGE_ONLY, ">=0.11.0")
    (said,) = [one for one in report.findings if one.code == RAISED.code]
    assert said.severity is Severity.INFO
    assert "0.17.0 is the first release" in said.message.english
    assert report.views[0].engine.written == "0.17.0"


def test_the_same_release_without_a_range_is_an_error() -> None:
    assert judged(LANGUAGE_ONLY, "0.11.0").verdict == "reject"


def test_a_range_that_begins_right_says_nothing() -> None:
    found = [one.code for one in judged(LANGUAGE_ONLY, ">=0.17.0").findings]
    assert RAISED.code not in found


def test_a_launch_that_no_release_runs_is_judged_by_the_first() -> None:
    report = judged(f"{LANGUAGE_ONLY} --no-such-flag-ever 1", ">=0.17.0")
    assert report.views[0].engine.written == "0.17.0"
    assert RAISED.code not in [one.code for one in report.findings]

"""The table of states: complete, and never without a word."""

import pytest
from django.db import models
from django.template import Context, Template

from deployments.models import (
    AlarmEnd,
    AlarmKind,
    Decision,
    EventKind,
    Reachability,
    ReleaseState,
    ReplicaState,
    RequestState,
    Standing,
)
from deployments.models.release import STOPPED
from deployments.planning.plan import Severity
from deployments.telemetry.advice import Verdict
from deployments.templatetags.status import STATUSES, status_of

TONES = {"good", "attention", "bad", "idle", "now"}


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        ("release", ReleaseState),
        ("request", RequestState),
        ("decision", Decision),
        ("host", Reachability),
        ("replica", ReplicaState),
        ("event", EventKind),
        ("alarm", AlarmKind),
        ("alarm_end", AlarmEnd),
    ],
)
def test_every_state_of_a_table_is_shown(
    kind: str, choices: type[models.TextChoices]
) -> None:
    """A state that is added to a model must be added here, too."""
    read_so = {STOPPED} if kind == "replica" else set()
    assert set(STATUSES[kind]) == {*choices.values, *read_so}


def test_every_value_of_planning_and_telemetry_is_shown() -> None:
    """The pure cores have no labels, so the table gives them."""
    assert set(STATUSES["severity"]) == {one.value for one in Severity}
    assert set(STATUSES["acceptance"]) == set(Standing.values)
    assert {one.value for one in Verdict} < set(Standing.values)


@pytest.mark.parametrize("kind", sorted(STATUSES))
def test_every_status_has_a_tone_and_a_word(kind: str) -> None:
    """Colour alone tells nobody anything."""
    for status in STATUSES[kind].values():
        assert status.tone in TONES
        assert str(status.label).strip()


def test_a_state_that_nobody_listed_is_a_mistake() -> None:
    """It fails loudly instead of showing nothing."""
    with pytest.raises(KeyError):
        status_of("release", "sleeping")


def test_the_tag_draws_icon_and_word() -> None:
    """The icon is hidden from screen readers, the word is not."""
    text = Template('{% load status %}{% status "release" "failed" %}').render(
        Context()
    )
    assert 'class="tone bad"' in text
    assert '#i-bad"' in text
    assert "Failed" in text
    assert 'aria-hidden="true"' in text

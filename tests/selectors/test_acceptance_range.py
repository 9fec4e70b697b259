"""Steps of ranges: few enough to see, on round times, from a level that fills them exactly."""

import time

import pytest

from deployments.models import DayRollup, HourRollup, MinuteRollup, Rollup
from deployments.selectors.acceptance_parts import level_of
from deployments.selectors.acceptance_range import (
    LENGTHS_S,
    MOST_POINTS,
    STEPS_S,
    named_range,
    own_range,
    step_for,
)

NOW = int(time.time())


@pytest.mark.parametrize("key", LENGTHS_S)
def test_named_ranges_end_with_the_step_of_now(key: str) -> None:
    one = named_range(key, NOW)
    assert one.length_s == LENGTHS_S[key]
    assert one.start_s % one.step_s == 0
    assert NOW <= one.end_s < NOW + one.step_s
    assert one.steps <= MOST_POINTS


@pytest.mark.parametrize("length_s", [1, 59, 3600, 5000, 86_400 * 45, 86_400 * 1500])
def test_own_ranges_are_widened_to_full_steps(length_s: int) -> None:
    one = own_range(NOW - length_s, NOW)
    assert one.start_s <= NOW - length_s < one.start_s + one.step_s
    assert one.end_s - one.step_s < NOW <= one.end_s
    assert 1 <= one.steps <= MOST_POINTS + 47


@pytest.mark.parametrize(
    ("step_s", "level"),
    [
        (60, MinuteRollup),
        (900, MinuteRollup),
        (3600, HourRollup),
        (21_600, HourRollup),
        (86_400, DayRollup),
        (604_800, DayRollup),
    ],
)
def test_each_step_is_filled_by_a_level(step_s: int, level: type[Rollup]) -> None:
    assert level_of(step_s) is level
    assert step_s % level.STEP_S == 0
    assert step_s in STEPS_S


def test_rows_to_read_grow_with_the_points_and_not_with_the_range() -> None:
    """At most fifteen rows of the level stand in one step, but for a week of days."""
    for length_s in (3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400):
        step_s = step_for(length_s, NOW - length_s)
        assert step_s // level_of(step_s).STEP_S <= 15

"""What is said of an expected gain where measurements end before the estimate does."""

from dataclasses import replace

import pytest

from deployments.planning.plan import Gain, GainPoint
from deployments.planning.text import text
from deployments.selectors.gains import gain_figures

GAIN = Gain(
    method="eagle3",
    num_speculative_tokens=3,
    concurrency=8,
    tokens_per_step=2500,
    points=(
        GainPoint(
            concurrency=8,
            speedup=1800,
            low=1500,
            high=2100,
            best_num_speculative_tokens=5,
        ),
    ),
    best_num_speculative_tokens=5,
    break_even=None,
    break_even_low=None,
    break_even_high=None,
    measured_up_to=64,
    kind="published",
    source=text("a source"),
    sentence=text("as predicted"),
    warnings=(),
)


@pytest.mark.parametrize(
    ("break_even", "reach", "said"),
    [
        (None, 64, "sees no end to the gain"),
        (300, 64, "near 300"),
        (40, 64, "as predicted"),
        (0, 64, "as predicted"),
        (None, 0, "as predicted"),
    ],
)
def test_the_sentence_says_up_to_where_anyone_measured(
    break_even: int | None, reach: int, said: str
) -> None:
    figures = gain_figures(replace(GAIN, break_even=break_even, measured_up_to=reach))
    assert figures is not None
    assert said in figures.sentence
    assert (figures.count, figures.best_count) == (3, 5)


def test_without_a_speed_nothing_is_added() -> None:
    unknown = replace(GAIN.points[0], speedup=None, low=None, high=None)
    figures = gain_figures(replace(GAIN, points=(unknown,)))
    assert figures is not None
    assert figures.sentence == "as predicted"
    assert figures.speedup is None

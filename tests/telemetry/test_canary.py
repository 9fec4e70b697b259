"""A canary is judged by the time per output token, at a similar load and after enough drafts."""

from dataclasses import replace

import pytest

from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.canary import Side, Standing, judge_canary
from deployments.telemetry.serving import Histogram

COUNTS = Counts(accepted=1200, drafted=3000, num_drafts=1000)
OTHERS = Side(
    drafts=True,
    counts=COUNTS,
    running=4.0,
    requests=50,
    generated=20_000,
    output=Histogram(sum=20.0, count=1000),
)
QUICKER = replace(OTHERS, output=Histogram(sum=16.0, count=1000))
OFF = replace(QUICKER, drafts=False, counts=Counts(num_drafts=0))


@pytest.mark.parametrize(
    ("canary", "standing"),
    [
        (QUICKER, Standing.BETTER),
        (replace(OTHERS, output=Histogram(sum=25.0, count=1000)), Standing.WORSE),
        (replace(OTHERS, output=Histogram(sum=20.4, count=1000)), Standing.LEVEL),
        (replace(QUICKER, running=5.2), Standing.BETTER),
        (replace(QUICKER, running=6.0), Standing.OTHER_LOAD),
        (replace(QUICKER, running=None), Standing.OTHER_LOAD),
        (replace(QUICKER, output=Histogram()), Standing.UNKNOWN),
        (replace(QUICKER, counts=Counts(num_drafts=199)), Standing.TOO_LITTLE),
        (OFF, Standing.BETTER),
        (replace(OFF, generated=999), Standing.TOO_LITTLE),
    ],
)
def test_the_pace_decides(canary: Side, standing: Standing) -> None:
    found = judge_canary(canary, OTHERS)
    assert found.standing is standing
    assert found.said
    assert (found.ratio is None) is (
        standing in {Standing.TOO_LITTLE, Standing.OTHER_LOAD, Standing.UNKNOWN}
    )


def test_a_time_per_step_is_shared_among_the_tokens_of_the_step() -> None:
    steps = replace(OTHERS, by_step=True)
    assert steps.per_token == pytest.approx(0.02 / 2.2)
    without = replace(steps, drafts=False)
    assert without.per_token == pytest.approx(0.02)
    assert judge_canary(without, steps).standing is Standing.WORSE
    assert "25% more tokens" in judge_canary(QUICKER, OTHERS).said

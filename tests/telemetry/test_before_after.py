"""Before and after: equal windows of similar load, or the reason why they are not compared."""

from dataclasses import replace
from typing import Any

import pytest

from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.before_after import (
    BeforeAfter,
    Change,
    Measure,
    Setting,
    Window,
    compare,
    most_alike,
)
from deployments.telemetry.serving import Histogram

OFF = Setting(method="off", count=None)
MTP1, MTP3 = Setting(method="mtp", count=1), Setting(method="mtp", count=3)
DRAFTED = Counts(
    accepted=2100, drafted=3000, num_drafts=1000, per_position=(900, 700, 500)
)


def window(**more: Any) -> Window:
    plain = Window(
        start_s=0,
        length_s=3600,
        seen_s=3600,
        requests=1000,
        prompted=1_000_000,
        generated=400_000,
        concurrency=8.0,
        cache=0.4,
        output=Histogram(sum=40.0, count=1000, le={"0.05": 1000}),
        output_from="request_time_per_output_token_seconds",
        counts=NOTHING,
    )
    return replace(plain, **more)


FASTER = window(
    requests=1700,
    prompted=1_700_000,
    generated=680_000,
    output=Histogram(sum=40.0, count=1700, le={"0.03": 1700, "0.05": 0}),
    counts=DRAFTED,
)


def of(pair: BeforeAfter, measure: Measure) -> Change:
    return next(change for change in pair.changes if change.measure is measure)


def test_turning_on_is_held_against_the_expected_ranges() -> None:
    pair = compare(window(), FASTER, OFF, MTP3)
    assert pair.comparable
    output = of(pair, Measure.OUTPUT)
    assert output.ratio == pytest.approx(0.6)
    assert (output.expected, output.within) == ((0.5, 0.7), True)
    requests = of(pair, Measure.REQUESTS)
    assert requests.ratio == pytest.approx(1.7)
    assert (requests.expected, requests.within) == ((1.5, 2.5), True)
    acceptance = of(pair, Measure.ACCEPTANCE)
    assert (acceptance.before, acceptance.after) == (None, 0.7)
    assert acceptance.ratio is None
    assert acceptance.within is False, "above the range of three tokens, 39 to 65 %"
    assert of(pair, Measure.CACHE).expected is None


def test_nothing_is_expected_of_another_count() -> None:
    pair = compare(replace(FASTER, requests=1500), FASTER, MTP1, MTP3)
    assert of(pair, Measure.OUTPUT).expected is None
    assert of(pair, Measure.REQUESTS).within is None


def test_a_rate_that_clients_set_is_not_expected_to_grow() -> None:
    """Faster answers to the same arrivals leave fewer requests at once: that is similar load."""
    after = window(concurrency=4.5, counts=DRAFTED)
    pair = compare(window(), after, OFF, MTP3)
    assert pair.comparable
    assert of(pair, Measure.REQUESTS).expected is None
    assert "As many requests came per second" in pair.notes[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"seen_s": 1800}, "After the change, counters were read in 30 of 60 minutes"),
        ({"requests": 99}, "After the change, 99 requests were finished"),
        (
            {"requests": 2000, "concurrency": 20.0, "prompted": 2_000_000},
            "The load differs: 8.0 requests at once before and 20.0 after, 0.28 and 0.56",
        ),
        ({"prompted": 2_000_000}, "The prompts differ: 1000 tokens each before, 2000"),
        ({"generated": 200_000}, "The replies differ: 400 tokens each before, 200"),
    ],
    ids=["unseen", "quiet", "load", "prompts", "replies"],
)
def test_what_may_not_be_compared_says_why(more: dict[str, Any], said: str) -> None:
    pair = compare(window(), window(**more), OFF, MTP3)
    assert not pair.comparable
    assert any(said in reason for reason in pair.against), pair.against


def test_time_per_step_is_not_time_per_token() -> None:
    after = replace(FASTER, output_from="inter_token_latency_seconds")
    pair = compare(window(), after, OFF, MTP3)
    assert of(pair, Measure.OUTPUT).after is None
    assert "a step with speculation is several tokens" in pair.notes[0]
    plain = window(output_from="inter_token_latency_seconds")
    assert plain.output_median is not None, "without drafts a step is a token"
    two = compare(plain, FASTER, OFF, MTP3)
    assert "do not weigh requests alike" in two.notes[0]


def test_the_first_window_of_similar_load_is_taken() -> None:
    busy, alike = window(requests=9000, concurrency=90.0), window(start_s=86_400)
    found = most_alike(FASTER, [busy, alike], OFF, MTP3)
    assert found is not None
    assert found.before is alike
    none = most_alike(FASTER, [busy], OFF, MTP3)
    assert none is not None
    assert none.before is busy
    assert not none.comparable
    assert most_alike(FASTER, [], OFF, MTP3) is None

"""Signs of a deployment: wrong, right or unsure, with room between, and never two for one cause."""

import pytest

from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.advice import thresholds_for
from deployments.telemetry.alarms import (
    Kind,
    Seen,
    change_point,
    judge,
    might_have_fallen,
)
from deployments.telemetry.baseline import baseline_of
from deployments.telemetry.host_signs import ClockOff, LogGrowth
from deployments.telemetry.signs import State


def window(rate: float, drafts: int = 1000, count: int = 3) -> Counts:
    return Counts(
        accepted=round(rate * drafts * count), drafted=drafts * count, num_drafts=drafts
    )


def seen(counts: Counts, **more: object) -> Seen:
    given = {
        "method": "eagle3",
        "count": 3,
        "window_s": 1800,
        "positions": Counts(num_drafts=0),
    }
    return Seen(window=counts, **{**given, **more})  # type: ignore[arg-type]


def wrong(one: Seen) -> set[Kind]:
    return {kind for kind, sign in judge(one).items() if sign.state is State.WRONG}


@pytest.mark.parametrize("rate", [0.37, 0.45, 0.55, 0.67, 0.85])
def test_a_healthy_eagle3_with_three_tokens_raises_nothing(rate: float) -> None:
    """Published logs of EAGLE-3 with three tokens lie from 37 to 67 %."""
    assert wrong(seen(window(rate + 0.001))) == set()


def test_nothing_accepted_is_one_alarm_and_not_three() -> None:
    one = seen(window(0.0), week=window(0.5))
    assert wrong(one) == {Kind.SILENT_ZERO}
    said = judge(one)[Kind.SILENT_ZERO]
    assert "0 of 3000" in said.text
    assert "30 minutes" in said.text
    assert said.evidence["threshold"] == 0.01
    assert said.evidence["window_s"] == 1800


def test_tokens_without_drafts_are_an_alarm_except_for_lookups() -> None:
    nothing = Counts(num_drafts=0)
    assert wrong(seen(nothing, generated=5000)) == {Kind.NO_DRAFTS}
    assert wrong(seen(nothing, generated=5000, method="ngram", count=4)) == set()
    assert wrong(seen(nothing, generated=200)) == set()
    assert wrong(seen(nothing, generated=None)) == set()


def test_low_is_low_for_the_count_and_leaves_room_before_it_is_right() -> None:
    low = thresholds_for("eagle3", 3).low
    looks = {
        rate: judge(seen(window(rate)))[Kind.BELOW_BAND].state
        for rate in (low - 0.02, low + 0.005, low * 1.06)
    }
    assert list(looks.values()) == [State.WRONG, State.UNSURE, State.RIGHT]
    assert wrong(seen(window(0.2), method="suffix")) == set()
    one_token = judge(seen(window(0.55, count=1), count=1))[Kind.BELOW_BAND]
    assert one_token.state is State.WRONG
    assert "60.0%" in one_token.text


def test_few_drafts_say_nothing() -> None:
    for rate in (0.0, 0.2, 1.0):
        assert wrong(seen(window(rate, drafts=40))) == set()
        assert wrong(seen(window(rate, drafts=150))) == set()


def test_a_fall_against_the_own_week_names_when_it_began() -> None:
    hours = [(h * 3600, window(0.6)) for h in range(48)]
    hours += [(h * 3600, window(0.45)) for h in range(48, 51)]
    week = baseline_of(counts for _, counts in hours[:48])
    one = seen(window(0.45), week=window(0.6), baseline=week, hours=hours)
    sign = judge(one)[Kind.DROP]
    assert sign.state is State.WRONG
    assert sign.began_s == 48 * 3600
    assert "2.35" in sign.text
    assert "2.80" in sign.text
    slightly = seen(window(0.55), week=window(0.6), baseline=week, hours=hours)
    assert judge(slightly)[Kind.DROP].state is State.UNSURE
    assert judge(seen(window(0.59), week=window(0.6)))[Kind.DROP].state is State.RIGHT


def test_a_week_that_is_not_known_is_no_fall() -> None:
    assert judge(seen(window(0.45)))[Kind.DROP].state is State.UNSURE
    assert not might_have_fallen(window(0.45), None)
    assert might_have_fallen(window(0.45), window(0.6))
    assert not might_have_fallen(window(0.6), window(0.6))


def test_exactly_everything_is_suspicious_and_almost_everything_is_not() -> None:
    assert wrong(seen(window(1.0))) == {Kind.ALL_ACCEPTED}
    assert wrong(seen(window(0.999))) == set()


def test_a_later_position_cannot_be_accepted_more_often() -> None:
    def at(*shares: int) -> Seen:
        counts = Counts(
            accepted=sum(shares), drafted=3000, num_drafts=1000, per_position=shares
        )
        return seen(window(0.6), positions=counts)

    sign = judge(at(700, 500, 650))[Kind.POSITIONS]
    assert sign.state is State.WRONG
    assert "position 3" in sign.text
    assert judge(at(700, 500, 400))[Kind.POSITIONS].state is State.RIGHT
    assert judge(at(700, 500, 510))[Kind.POSITIONS].state is State.UNSURE


def test_disagreement_and_lost_lines_say_both_figures() -> None:
    one = seen(window(0.6), differs=(270, 9), lost_lines=2)
    assert wrong(one) == {Kind.DISAGREEMENT, Kind.GAP}
    assert "270" in judge(one)[Kind.DISAGREEMENT].text
    assert judge(seen(window(0.6)))[Kind.GAP].state is State.RIGHT


@pytest.mark.parametrize(
    ("minutes", "state"),
    [
        (12, State.WRONG),
        (19.9, State.WRONG),
        (25, State.UNSURE),
        (30, State.RIGHT),
        (10_000, State.RIGHT),
    ],
)
def test_a_log_that_keeps_less_than_twice_an_outage_is_too_short(
    minutes: float, state: State
) -> None:
    log = LogGrowth(
        container="chat-0", bytes_per_s=50_000, kept_bytes=int(50_000 * 60 * minutes)
    )
    sign = judge(seen(window(0.6), log=log))[Kind.LOG_RATE]
    assert sign.state is state
    if state is State.WRONG:
        assert "chat-0 grows by 50.0 kB a second" in sign.text
        assert sign.evidence["threshold_s"] == 1200
    assert judge(seen(window(0.6)))[Kind.LOG_RATE].state is State.UNSURE


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize(
    ("offset_ms", "state"),
    [(2001, State.WRONG), (1500, State.UNSURE), (1000, State.RIGHT), (0, State.RIGHT)],
)
def test_a_clock_is_off_beyond_two_seconds_and_right_within_one(
    offset_ms: int, direction: int, state: State
) -> None:
    off = ClockOff(host="gpu-1", offset_ms=offset_ms * direction)
    sign = judge(seen(window(0.6), clock=off))[Kind.CLOCK]
    assert sign.state is state
    if state is State.WRONG:
        assert f"gpu-1 is 2.0 seconds {'ahead' if direction > 0 else 'behind'}" in (
            sign.text
        )
    assert judge(seen(window(0.6)))[Kind.CLOCK].state is State.UNSURE


@pytest.mark.parametrize(
    ("values", "place"),
    [([3, 3, 3, 2, 2], 3), ([3, 3, 3, 3], None), ([2, 2, 3, 3], None), ([3, 2], None)],
)
def test_the_change_point_is_where_the_course_falls(
    values: list[float], place: int | None
) -> None:
    assert change_point(values) == place

"""Tokens per step from a rate, a mean length or per-position rates."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.speedup.acceptance import (
    DECAY,
    Acceptance,
    Origin,
    from_first_rate,
    from_mean_length,
    from_positions,
    from_rate,
    seed_formula,
)
from deployments.planning.speedup.priors import PRIORS, assumed_acceptance

HERE = Origin(kind="measured", source="a test")


@given(st.floats(0, 1), st.integers(1, 8), st.sampled_from(list(Method)))
def test_a_length_that_was_logged_comes_out_again(
    share: float, count: int, method: Method
) -> None:
    length = 1 + share * count
    told = from_mean_length(length, count, method=method, origin=HERE)
    assert told.tokens_per_step(count) == pytest.approx(length, abs=1e-6)


@given(st.floats(0, 1), st.integers(1, 6))
def test_position_rates_never_rise_and_more_tokens_never_yield_less(
    share: float, count: int
) -> None:
    told = from_mean_length(1 + share * count, count, method=Method.EAGLE3, origin=HERE)
    rates = told.position_rates(count + 4)
    assert list(rates) == sorted(rates, reverse=True)
    assert told.tokens_per_step(count + 1) >= told.tokens_per_step(count)


def test_per_position_rates_add_up_with_the_bonus_token() -> None:
    told = from_positions((0.76, 0.56, 0.43), method=Method.EAGLE3, origin=HERE)
    assert told.tokens_per_step(3) == pytest.approx(2.75)
    assert told.tokens_per_step(1) == pytest.approx(1.76)
    assert told.rate(3) == pytest.approx(1.75 / 3)


def test_beyond_the_last_measured_position_the_conditional_rate_decays() -> None:
    told = from_positions((0.8, 0.6), method=Method.EAGLE, origin=HERE)
    third = 0.6 * 0.75 * DECAY[Method.EAGLE]
    assert told.position_rates(3)[2] == pytest.approx(third)


def test_a_rate_counts_the_bonus_token_too() -> None:
    told = from_rate(0.8, 1, method=Method.MTP, origin=HERE)
    assert told.tokens_per_step(1) == pytest.approx(1.8)


def test_a_rate_of_a_look_up_method_promises_less_than_its_upper_bound() -> None:
    told = from_rate(0.4, 3, method=Method.SUFFIX, origin=HERE)
    assert 1 < told.tokens_per_step(3) < 2.2
    logged = from_mean_length(2.2, 3, method=Method.SUFFIX, origin=HERE)
    assert logged.tokens_per_step(3) == pytest.approx(2.2, abs=1e-6)


def test_eagle_decays_as_the_published_sweep_does() -> None:
    told = from_mean_length(2.29, 3, method=Method.EAGLE, origin=HERE)
    assert told.tokens_per_step(7) == pytest.approx(2.47, abs=0.1)


@pytest.mark.parametrize(
    ("rate", "count", "cost", "expected"),
    [(0.85, 1, 0.03, 0.83), (0.511, 3, 0.05, 1.33), (0.125, 8, 0.20, 0.38)],
)
def test_the_rule_of_thumb_calls_one_draft_token_slower(
    rate: float, count: int, cost: float, expected: float
) -> None:
    assert seed_formula(rate, count, cost) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("build", "word"),
    [
        (lambda: from_rate(1.2, 3, method=Method.MTP, origin=HERE), "between 0 and 1"),
        (lambda: from_rate(0.5, 0, method=Method.MTP, origin=HERE), "at least one"),
        (
            lambda: from_mean_length(4.2, 3, method=Method.MTP, origin=HERE),
            "bonus token",
        ),
        (lambda: from_positions((), method=Method.MTP, origin=HERE), "each position"),
        (
            lambda: from_positions((0.5, 0.6), method=Method.MTP, origin=HERE),
            "cannot rise",
        ),
    ],
)
def test_impossible_acceptance_is_refused_with_the_reason(
    build: Callable[[], Acceptance], word: str
) -> None:
    with pytest.raises(PlanningError, match=word):
        build()


@pytest.mark.parametrize("method", list(Method))
def test_every_method_has_a_prior_that_says_it_is_assumed(method: Method) -> None:
    prior = assumed_acceptance(method)
    assert prior.origin.kind == "assumed"
    assert PRIORS[method].source in prior.origin.source
    assert 1 < prior.tokens_per_step(1) < 2


def test_the_prior_of_mtp_is_stated_for_one_token_only() -> None:
    prior = assumed_acceptance(Method.MTP)
    assert "stated for 1 token)" in prior.origin.source
    assert prior.tokens_per_step(3) < 1 + 3 * 0.85


def test_a_first_rate_of_zero_accepts_nothing() -> None:
    told = from_first_rate(0.0, method=Method.EAGLE3, origin=HERE)
    assert told.tokens_per_step(5) == 1

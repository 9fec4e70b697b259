"""Advice: the seed's thresholds, carried over to the count, and the gain of each position."""

import pytest

from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.advice import Action, Advice, Verdict, advise, thresholds_for


def counts(*rates: float, drafts: int = 1000) -> Counts:
    positions = tuple(round(rate * drafts) for rate in rates)
    return Counts(
        accepted=sum(positions),
        drafted=drafts * len(rates),
        num_drafts=drafts,
        per_position=positions,
    )


def texts(advice: Advice) -> str:
    return " ".join(statement.text for statement in advice.statements)


def test_seed_thresholds_hold_for_one_token() -> None:
    limits = thresholds_for("eagle3", 1)
    assert (limits.low, limits.high) == (0.6, 0.8)


def test_thresholds_fall_with_the_count() -> None:
    three = thresholds_for("mtp", 3)
    assert three.high == pytest.approx((0.8 + 0.64 + 0.512) / 3)
    assert three.low == pytest.approx((0.6 + 0.36 + 0.216) / 3)


def test_eagle3_with_three_tokens_is_healthy_from_37_to_67_percent() -> None:
    limits = thresholds_for("eagle3", 3)
    assert (round(limits.low, 2), round(limits.high, 2)) == (0.37, 0.67)
    assert advise("eagle3", 3, counts(0.6, 0.33, 0.2)).verdict is Verdict.NORMAL
    assert advise("mtp", 3, counts(0.6, 0.33, 0.2)).verdict is Verdict.LOW
    assert "58% and 81% per token" in texts(advise("eagle3", 3, counts(0.6, 0.4, 0.2)))


@pytest.mark.parametrize(
    ("rate", "verdict"),
    [(0.85, Verdict.HEALTHY), (0.7, Verdict.NORMAL), (0.5, Verdict.LOW)],
)
def test_one_token_is_judged_as_in_the_seed(rate: float, verdict: Verdict) -> None:
    assert advise("mtp", 1, counts(rate)).verdict is verdict


def test_55_percent_is_normal_with_three_tokens() -> None:
    advice = advise("eagle3", 3, counts(0.75, 0.53, 0.37))
    assert advice.verdict is Verdict.NORMAL
    assert "55.0%" in texts(advice)


def test_positions_that_cost_more_than_they_bring_are_given_up() -> None:
    advice = advise("mtp", 6, counts(0.74, 0.47, 0.31, 0.19, 0.10, 0.06))
    assert advice.action is Action.LOWER
    assert advice.suggested_num_speculative_tokens == 3
    assert "from 6 to 3" in texts(advice)


def test_high_acceptance_at_the_last_position_asks_for_more() -> None:
    advice = advise("mtp", 2, counts(0.95, 0.9))
    assert advice.action is Action.RAISE
    assert advice.suggested_num_speculative_tokens == 3


def test_low_first_position_questions_the_drafter() -> None:
    advice = advise("eagle3", 1, counts(0.3))
    assert advice.verdict is Verdict.LOW
    assert advice.action is Action.CHECK_DRAFTER


def test_nothing_accepted_questions_the_drafter_not_the_count() -> None:
    advice = advise("mtp", 3, counts(0.001, 0.0, 0.0))
    assert advice.verdict is Verdict.ZERO
    assert advice.action is Action.CHECK_DRAFTER
    assert advice.suggested_num_speculative_tokens is None


@pytest.mark.parametrize(
    ("drafts", "verdict"), [(19, Verdict.TOO_FEW), (20, Verdict.ZERO)]
)
def test_nothing_accepted_is_said_before_a_rate_can_be_judged(
    drafts: int, verdict: Verdict
) -> None:
    assert advise("eagle3", 3, counts(0.0, 0.0, 0.0, drafts=drafts)).verdict is verdict


@pytest.mark.parametrize("method", ["ngram", "suffix", "ngram_gpu"])
def test_lookup_methods_are_not_judged_by_rate(method: str) -> None:
    advice = advise(method, 3, counts(0.3, 0.2, 0.15))
    assert advice.verdict is Verdict.NOT_COMPARABLE
    assert advice.thresholds is None


def test_no_traffic_is_no_verdict() -> None:
    advice = advise("mtp", 3, NOTHING)
    assert advice.verdict is Verdict.NO_DATA
    assert advice.action is Action.WAIT


@pytest.mark.parametrize(
    ("drafts", "verdict"), [(199, Verdict.TOO_FEW), (200, Verdict.HEALTHY)]
)
def test_a_rate_of_few_drafts_is_not_judged(drafts: int, verdict: Verdict) -> None:
    assert advise("mtp", 1, counts(0.9, drafts=drafts)).verdict is verdict


def test_few_drafts_change_nothing() -> None:
    advice = advise("mtp", 1, counts(0.9, drafts=24))
    assert (advice.action, advice.gains) == (Action.WAIT, ())
    assert "Too few to judge: 24 drafts. Wait for at least 200" in texts(advice)


def test_where_only_tokens_were_counted_they_say_how_many_drafts_there_were() -> None:
    """Lines of older releases do not tell the drafts."""
    assert advise("mtp", 3, Counts(accepted=60, drafted=90)).action is Action.WAIT


def test_counts_without_positions_are_judged_by_rate_alone() -> None:
    known = Counts(accepted=900, drafted=1000, num_drafts=1000)
    assert advise("mtp", 1, known).action is Action.KEEP
    low = Counts(accepted=300, drafted=1000, num_drafts=1000)
    assert advise("mtp", 1, low).action is Action.CHECK_DRAFTER


def test_old_spelling_of_mtp_is_mtp() -> None:
    sample = counts(0.8, 0.6)
    assert advise("deepseek_mtp", 2, sample) == advise("mtp", 2, sample)


def test_every_statement_is_made_of_code_and_parameters() -> None:
    advice = advise("mtp", 3, counts(0.8, 0.6, 0.4))
    codes = [statement.code for statement in advice.statements]
    assert codes == ["measured", "rate_normal", "marginal_gain", "action_keep"]
    measured = dict(advice.statements[0].parameters)
    assert measured == {
        "accepted": "1800",
        "drafted": "3000",
        "rate": "60.0%",
        "length": "2.80",
    }
    assert "{" not in texts(advice)

"""Log and counters of one run are joined: whatever their order, each token is counted once."""

from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.joining import (
    UNKNOWN,
    EngineDelta,
    added,
    ahead,
    began_anew,
    kept,
    news,
    shared_out,
    stored_counts,
    too_far_apart,
)


def counts(accepted: int, drafted: int, drafts: int | None = None) -> Counts:
    return Counts(accepted=accepted, drafted=drafted, num_drafts=drafts)


steps = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["line", "scrape", "nothing"])),
    min_size=1,
    max_size=40,
)


@given(steps)
def test_whatever_is_read_when_the_sum_is_that_of_the_further_source(
    course: list[tuple[int, str]],
) -> None:
    """One engine drafts three tokens a step; lines and scrapes look at it at any time."""
    truth = line = counters = counted = UNKNOWN
    for accepted, look in course:
        truth = added(truth, counts(accepted, 3, 1))
        if look == "line":
            line = truth
        elif look == "scrape":
            counters = truth
        fresh = news(ahead(line, counters), counted)
        counted = added(counted, fresh)
        assert fresh.accepted <= fresh.drafted
        assert counted == ahead(line, counters)


def test_what_lags_behind_adds_nothing_and_takes_nothing_back() -> None:
    assert news(counts(5, 9, 3), counts(7, 12, 4)) == counts(0, 0, 0)


def test_unknown_drafts_stay_unknown() -> None:
    assert news(counts(5, 9), counts(1, 3, 1)).num_drafts is None
    assert added(counts(5, 9), counts(1, 3, 1)).num_drafts is None


def test_positions_of_different_lengths_are_padded() -> None:
    one = Counts(accepted=3, drafted=6, num_drafts=2, per_position=(2, 1, 0))
    two = Counts(accepted=1, drafted=1, num_drafts=1, per_position=(1,))
    assert added(one, two).per_position == (3, 1, 0)
    assert news(added(one, two), two).per_position == (2, 1, 0)


def test_what_the_log_told_is_taken_off_the_engines_once() -> None:
    deltas = [EngineDelta("0", counts(4, 9, 3)), EngineDelta("1", counts(2, 6, 2))]
    left = shared_out(deltas, counts(5, 12, 4))
    assert [one.counts.drafted for one in left] == [0, 3]
    assert sum(one.counts.accepted for one in left) == 1


def test_a_smaller_counter_is_another_process() -> None:
    assert began_anew(counts(4, 9, 3), counts(4, 12, 4))
    assert not began_anew(counts(4, 12, 4), counts(4, 9, 3))


def test_rounding_is_no_disagreement_but_two_per_cent_are() -> None:
    assert not too_far_apart(counts(0, 10_100), counts(0, 10_000))
    assert too_far_apart(counts(0, 10_200), counts(0, 10_000))


def test_a_row_keeps_what_it_is_given() -> None:
    one = Counts(accepted=3, drafted=6, num_drafts=None, per_position=(2, 1, 0))
    assert stored_counts(kept(one)) == one
    assert stored_counts([]) == UNKNOWN

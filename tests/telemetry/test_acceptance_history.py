"""Counts add up, ratios come last, and no traffic is a gap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.acceptance_history import (
    NOTHING,
    Counts,
    Sample,
    bucket_samples,
    counts_of_record,
    total,
)
from deployments.telemetry.logs.acceptance import parse_acceptance

SECOND = 1_000_000_000


def window(accepted: int, drafted: int, end_s: int) -> Sample:
    counts = Counts(accepted=accepted, drafted=drafted, num_drafts=drafted // 2)
    return Sample(start_ns=(end_s - 10) * SECOND, end_ns=end_s * SECOND, counts=counts)


def test_ratios_are_computed_when_read() -> None:
    counts = Counts(
        accepted=150, drafted=300, num_drafts=100, per_position=(80, 50, 20)
    )
    assert counts.acceptance_rate == 0.5
    assert counts.mean_acceptance_length == 2.5
    assert counts.per_position_rates == (0.8, 0.5, 0.2)


@pytest.mark.parametrize(
    "counts", [NOTHING, Counts(), Counts(accepted=0, drafted=0, num_drafts=0)]
)
def test_nothing_drafted_has_no_ratio(counts: Counts) -> None:
    assert counts.acceptance_rate is None
    assert counts.mean_acceptance_length is None
    assert counts.per_position_rates is None


def test_sum_weighs_by_tokens() -> None:
    first = Counts(accepted=10, drafted=20, num_drafts=10, per_position=(8, 2))
    second = Counts(accepted=80, drafted=100, num_drafts=50, per_position=(45, 35))
    both = first + second
    assert both == Counts(
        accepted=90, drafted=120, num_drafts=60, per_position=(53, 37)
    )


def test_unknown_drafts_make_the_sum_unknown() -> None:
    both = Counts(accepted=1, drafted=2, num_drafts=1) + Counts(accepted=1, drafted=2)
    assert both.num_drafts is None
    assert both.acceptance_rate == 0.5
    assert both.mean_acceptance_length is None


def test_windows_of_different_depth_share_no_positions() -> None:
    deep = Counts(accepted=3, drafted=6, num_drafts=2, per_position=(2, 1, 0))
    flat = Counts(accepted=1, drafted=2, num_drafts=2, per_position=(1,))
    assert (deep + flat).per_position == ()


def test_printed_rates_become_counts() -> None:
    record = parse_acceptance(
        "SpecDecoding metrics: Mean acceptance length: 1.89, Accepted: 833 tokens, Drafted: "
        "1874 tokens, Per-position acceptance rate: 0.549, 0.340, Avg Draft acceptance rate: "
        "44.5%"
    )
    assert record is not None
    counts = counts_of_record(record)
    assert counts is not None
    assert counts.num_drafts == 937
    assert counts.per_position == (514, 319)
    assert sum(counts.per_position) == counts.accepted


def test_cumulative_record_is_no_window() -> None:
    record = parse_acceptance(
        "Speculative metrics: Draft acceptance rate: 0.500, System efficiency: 0.500, Number "
        "of speculative tokens: 1, Number of accepted tokens: 5, Number of draft tokens: 10, "
        "Number of emitted tokens: 15."
    )
    assert record is not None
    assert counts_of_record(record) is None


def test_bucket_without_traffic_is_a_gap() -> None:
    samples = [window(5, 10, 10), window(0, 0, 20), window(1, 10, 30)]
    buckets = bucket_samples(samples, 0, 30 * SECOND, 3)
    assert [bucket.counts and bucket.counts.acceptance_rate for bucket in buckets] == [
        0.5,
        None,
        0.1,
    ]


def test_all_rejected_is_zero_and_no_gap() -> None:
    (bucket,) = bucket_samples([window(0, 10, 5)], 0, 10 * SECOND, 1)
    assert bucket.counts is not None
    assert bucket.counts.acceptance_rate == 0.0


def test_neighbouring_charts_share_no_sample() -> None:
    sample = window(5, 10, 10)
    first = bucket_samples([sample], 0, 10 * SECOND, 2)
    second = bucket_samples([sample], 10 * SECOND, 20 * SECOND, 2)
    assert first[1].counts == sample.counts
    assert [bucket.counts for bucket in second] == [None, None]


@pytest.mark.parametrize(("end", "buckets"), [(0, 1), (10, 0)])
def test_impossible_chart_is_refused(end: int, buckets: int) -> None:
    with pytest.raises(ValueError, match="A chart needs"):
        bucket_samples([], 0, end, buckets)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 1000)), max_size=30),
    st.integers(1, 17),
    st.integers(1, 997),
)
def test_every_sample_inside_counts_exactly_once(
    ends: list[tuple[int, int]], buckets: int, span: int
) -> None:
    samples = [
        Sample(
            start_ns=0,
            end_ns=end,
            counts=Counts(accepted=accepted, drafted=accepted + 1),
        )
        for accepted, end in ends
    ]
    result = bucket_samples(samples, 0, span, buckets)
    inside = total(sample.counts for sample in samples if 0 < sample.end_ns <= span)
    drawn = total(bucket.counts for bucket in result if bucket.counts)
    assert (drawn.accepted, drawn.drafted) == (inside.accepted, inside.drafted)
    for sample in samples:
        if 0 < sample.end_ns <= span:
            assert any(
                bucket.start_ns < sample.end_ns <= bucket.end_ns and bucket.counts
                for bucket in result
            )

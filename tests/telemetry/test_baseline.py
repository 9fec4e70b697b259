"""What is usual: percentiles of hours with enough drafts, and nothing of too few of them."""

import pytest

from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.baseline import Band, baseline_of, percentile


def hour(accepted: int, drafts: int = 100) -> Counts:
    """An hour with three tokens a draft."""
    return Counts(accepted=accepted, drafted=3 * drafts, num_drafts=drafts)


def test_the_band_leaves_out_a_tenth_at_each_end() -> None:
    found = baseline_of(hour(100 + 10 * place) for place in range(11))
    assert found.length is None
    found = baseline_of(hour(100 + 10 * place) for place in range(21))
    assert found.hours == 21
    assert isinstance(found.length, Band)
    assert found.length.low == pytest.approx(2.2)
    assert found.length.high == pytest.approx(3.8)


def test_hours_with_few_or_unknown_drafts_do_not_count() -> None:
    few = [hour(0, drafts=49)] * 30
    unknown = [Counts(accepted=1, drafted=900, num_drafts=None)] * 30
    assert baseline_of([*few, *unknown]).hours == 0


def test_percentiles_lie_between_neighbours() -> None:
    assert percentile([1.0], 0.9) == 1.0
    assert percentile([1.0, 2.0], 0.5) == 1.5
    assert percentile([1.0, 2.0, 3.0], 1.0) == 3.0

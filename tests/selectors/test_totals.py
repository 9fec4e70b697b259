"""A large total is not counted for every page, a small one is; each key has its own."""

import pytest

from deployments.selectors.tables import totals
from deployments.selectors.tables.totals import LARGE, LASTS_S, MOST_KEPT, total_of


class Counter:
    """Says a number, and how often it was asked."""

    def __init__(self, number: int) -> None:
        self.number, self.asked = number, 0

    def __call__(self) -> int:
        self.asked += 1
        return self.number


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands; what is kept goes with the test."""
    now = [100.0]
    monkeypatch.setattr(totals, "KEPT", {})
    monkeypatch.setattr(totals, "monotonic", lambda: now[0])
    return now


def test_a_small_total_is_counted_each_time() -> None:
    counter = Counter(LARGE - 1)
    assert [total_of("a", counter) for _ in range(3)] == [LARGE - 1] * 3
    assert counter.asked == 3


def test_a_large_one_lasts_some_seconds_for_its_key_alone(clock: list[float]) -> None:
    counter = Counter(LARGE)
    total_of("a", counter)
    counter.number += 1
    assert total_of("a", counter) == LARGE
    assert total_of("b", counter) == LARGE + 1
    clock[0] += LASTS_S
    assert total_of("a", counter) == LARGE + 1
    assert counter.asked == 3


def test_it_keeps_no_heap() -> None:
    for number in range(MOST_KEPT + 5):
        total_of(number, Counter(LARGE))
    assert len(totals.KEPT) <= MOST_KEPT

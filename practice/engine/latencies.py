"""Latencies: histograms of one engine with vLLM 0.32.0's names and bounds."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

FIRST_TOKEN_BOUNDS = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5,
    10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
)  # fmt: skip
TOKEN_BOUNDS = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5,
    10.0, 20.0, 40.0, 80.0,
)  # fmt: skip


@dataclass(slots=True)
class Histogram:
    """Observations in seconds; the last place counts what is above every bound."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one observation."""
        if not self.counts:
            self.counts = [0] * (len(self.bounds) + 1)
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        """All observations."""
        return sum(self.counts)

    def cumulative(self) -> Iterator[tuple[str, int]]:
        """Each bound as it is exposed, with the observations up to it."""
        counts = self.counts or [0] * (len(self.bounds) + 1)
        upto = 0
        for bound, count in zip(self.bounds, counts, strict=False):
            upto += count
            yield repr(bound), upto
        yield "+Inf", sum(counts)


@dataclass(slots=True)
class Latencies:
    """What requests waited for: first token, mean time per token, time between steps."""

    first_token: Histogram = field(
        default_factory=lambda: Histogram(FIRST_TOKEN_BOUNDS)
    )
    per_token: Histogram = field(default_factory=lambda: Histogram(TOKEN_BOUNDS))
    between: Histogram = field(default_factory=lambda: Histogram(TOKEN_BOUNDS))

    def step(self, seconds: float, *, first: bool) -> None:
        """One step of a request took so long; the first one is its first token."""
        (self.first_token if first else self.between).observe(seconds)

    def finished(self, seconds: float, tokens: int) -> None:
        """A request got its ``tokens`` after the first one within ``seconds``."""
        if tokens > 0:
            self.per_token.observe(seconds / tokens)

"""Intervals: how sure a ratio of two sets of measurements is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

ASSUMED_SPREAD = 0.05
"""Runs of one server differ by some per cent; with one run for an arm this much is assumed."""

# Two-sided 95 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL = 1.960


@dataclass(frozen=True, slots=True)
class Ratio:
    """Second over first, with its 95 % interval; ``assumed`` when nothing was repeated."""

    value: float
    low: float
    high: float
    assumed: bool

    @property
    def above(self) -> bool:
        """Surely more than before."""
        return self.low > 1

    @property
    def below(self) -> bool:
        """Surely less than before."""
        return self.high < 1

    @property
    def inverse(self) -> "Ratio":
        """First over second."""
        return Ratio(1 / self.value, 1 / self.high, 1 / self.low, self.assumed)


def ratio(first: Sequence[float], second: Sequence[float]) -> Ratio | None:
    """Compare geometric means by Welch's interval on logarithms; ``None`` without values.

    When only one arm was repeated its spread stands for both. When none was, the interval is
    ``ASSUMED_SPREAD`` to each side.
    """
    if not first or not second or min(*first, *second) <= 0:
        return None
    before = [math.log(value) for value in first]
    after = [math.log(value) for value in second]
    middle = fmean(after) - fmean(before)
    half = _half_width(before, after)
    assumed = half is None
    width = math.log1p(ASSUMED_SPREAD) if half is None else half
    return Ratio(
        math.exp(middle), math.exp(middle - width), math.exp(middle + width), assumed
    )


def _half_width(before: list[float], after: list[float]) -> float | None:
    repeated = [values for values in (before, after) if len(values) > 1]
    if not repeated:
        return None
    if len(repeated) == 1:
        spread = variance(repeated[0])
        error = math.sqrt(spread / len(before) + spread / len(after))
        return quantile(len(repeated[0]) - 1) * error
    parts = [variance(values) / len(values) for values in repeated]
    error = math.sqrt(sum(parts))
    if error == 0:
        return 0.0
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1)
        for part, values in zip(parts, repeated, strict=True)
    )
    return quantile(math.floor(freedom)) * error


def quantile(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t distribution."""
    return _STUDENT[max(freedom, 1) - 1] if freedom <= len(_STUDENT) else _NORMAL

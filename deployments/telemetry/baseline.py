"""What is usual for a deployment: the band in which most hours of a week lay."""

from collections.abc import Iterable
from dataclasses import dataclass

from deployments.telemetry.acceptance_history import Counts

LEAST_HOURS = 12
"""With fewer hours a tenth of them is no hour at all."""
LEAST_DRAFTS = 50
"""An hour with fewer drafts says little about its length."""
LOW, HIGH = 0.1, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The tenth and the ninetieth percentile of hours with traffic."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Bands of mean acceptance length and rate; ``None`` where too few hours had traffic."""

    hours: int
    length: Band | None
    rate: Band | None


def baseline_of(hours: Iterable[Counts]) -> Baseline:
    """The bands of sums by hour; hours with few drafts are left out."""
    enough = [one for one in hours if (one.num_drafts or 0) >= LEAST_DRAFTS]
    return Baseline(
        hours=len(enough),
        length=_band(one.mean_acceptance_length for one in enough),
        rate=_band(one.acceptance_rate for one in enough),
    )


def _band(values: Iterable[float | None]) -> Band | None:
    known = sorted(value for value in values if value is not None)
    if len(known) < LEAST_HOURS:
        return None
    return Band(low=percentile(known, LOW), high=percentile(known, HIGH))


def percentile(ordered: list[float], share: float) -> float:
    """The value below which ``share`` of the ordered values lie, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)

"""The range of a chart and its steps: few enough to see, and from a level that is still kept."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings

from deployments.models import DAY_S, HOUR_S, MINUTE_S

NANOSECONDS = 10**9
STEPS_S = (MINUTE_S, 300, 900, HOUR_S, 21_600, DAY_S, 604_800)
MOST_POINTS = 168
"""More would be narrower than four pixels on the page's chart, and a table that nobody reads."""
OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """``steps`` steps of ``step_s`` seconds from ``start_s``, in seconds since 1970."""

    key: str
    start_s: int
    step_s: int
    steps: int

    @property
    def end_s(self) -> int:
        """Where it ends."""
        return self.start_s + self.length_s

    @property
    def length_s(self) -> int:
        """How long it is."""
        return self.step_s * self.steps

    @property
    def start(self) -> datetime:
        """When it begins."""
        return datetime.fromtimestamp(self.start_s, UTC)

    @property
    def end(self) -> datetime:
        """When it ends."""
        return datetime.fromtimestamp(self.end_s, UTC)

    @property
    def start_ns(self) -> int:
        """When it begins in nanoseconds."""
        return self.start_s * NANOSECONDS

    @property
    def end_ns(self) -> int:
        """When it ends in nanoseconds."""
        return self.end_s * NANOSECONDS

    def moved_to(self, end_s: int) -> "Range":
        """The same length and steps with another end, on a full step."""
        end_s = -(-end_s // self.step_s) * self.step_s
        return replace(self, key=OWN, start_s=end_s - self.length_s)


LENGTHS_S = {
    "1h": HOUR_S,
    "6h": 6 * HOUR_S,
    "24h": DAY_S,
    "7d": 7 * DAY_S,
    "30d": 30 * DAY_S,
}
DEFAULT = "24h"


def named_range(key: str, until_s: int) -> Range:
    """One of the ranges that people pick, ending with the step that holds ``until_s``."""
    length_s = LENGTHS_S[key]
    step_s = step_for(length_s, until_s - length_s)
    end_s = -(-until_s // step_s) * step_s
    return Range(
        key=key, start_s=end_s - length_s, step_s=step_s, steps=length_s // step_s
    )


def own_range(from_s: int, to_s: int) -> Range:
    """A range from one time to another, widened to full steps; at least one step."""
    step_s = step_for(to_s - from_s, from_s)
    start_s = from_s // step_s * step_s
    steps = max(1, -(-(to_s - start_s) // step_s))
    return Range(key=OWN, start_s=start_s, step_s=step_s, steps=steps)


def step_for(length_s: int, start_s: int) -> int:
    """The smallest step that gives few enough points and whose sums are still kept at the start."""
    least = MINUTE_S
    age_days = (time.time() - start_s) / DAY_S
    if 0 < settings.MINUTES_KEPT_DAYS < age_days:
        least = HOUR_S
    if 0 < settings.HOURS_KEPT_DAYS < age_days:
        least = DAY_S
    for step_s in STEPS_S:
        if step_s >= least and length_s / step_s <= MOST_POINTS:
            return step_s
    return STEPS_S[-1]

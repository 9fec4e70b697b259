"""Speed-up over concurrency as a curve that pages draw, and each count's benefit beside it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.planning.plan import Gain
from deployments.planning.speedup.benefit import CountBenefit
from deployments.planning.speedup.prediction import SpeedPrediction

THOUSAND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """Speed-up with so many requests at once; ``None`` is unknown.

    Nine of ten measurements lie between ``low`` and ``high``, which are ``None`` where nothing was
    measured that resembles the point. ``bound`` is ``memory`` or ``compute``, empty when not told.
    """

    concurrency: int
    speedup: float | None
    low: float | None
    high: float | None
    best_count: int | None
    bound: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedCurve:
    """One method with one count over concurrency.

    ``asked`` is the concurrency of the workload. Break-even is the highest concurrency that pays,
    0 for none, with the range in which half of the measurements turn; ``None`` is unknown or beyond
    4096. ``reach`` is how far published measurements resemble this case, 0 for not at all.
    """

    count: int
    asked: int
    points: tuple[CurvePoint, ...]
    reach: int
    break_even: int | None
    break_even_low: int | None
    break_even_high: int | None

    @property
    def known(self) -> bool:
        """Whether there is anything to draw."""
        return any(one.speedup is not None for one in self.points)

    def at(self, concurrency: int) -> CurvePoint | None:
        """The point of that concurrency."""
        found = (one for one in self.points if one.concurrency == concurrency)
        return next(found, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountLine:
    """One num_speculative_tokens at the workload's concurrency."""

    count: int
    tokens_per_step: float
    speedup: float | None
    chosen: bool
    best: bool


def curve_of_gain(gain: Gain) -> SpeedCurve:
    """The curve of a plan's prediction."""
    return SpeedCurve(
        count=gain.num_speculative_tokens,
        asked=gain.concurrency,
        points=tuple(
            CurvePoint(
                concurrency=one.concurrency,
                speedup=_ratio(one.speedup),
                low=_ratio(one.low),
                high=_ratio(one.high),
                best_count=one.best_num_speculative_tokens,
            )
            for one in gain.points
        ),
        reach=gain.measured_up_to,
        break_even=gain.break_even,
        break_even_low=gain.break_even_low,
        break_even_high=gain.break_even_high,
    )


def curve_of_prediction(found: SpeedPrediction, count: int, asked: int) -> SpeedCurve:
    """The curve of a prediction that no plan holds."""
    return SpeedCurve(
        count=count,
        asked=asked,
        points=tuple(
            CurvePoint(
                concurrency=one.concurrency,
                speedup=one.speedup,
                low=one.low,
                high=one.high,
                best_count=one.best_num_speculative_tokens,
                bound=one.bound or "",
            )
            for one in found.curve
        ),
        reach=found.measured_up_to,
        break_even=found.break_even.concurrency,
        break_even_low=found.break_even.low,
        break_even_high=found.break_even.high,
    )


def count_lines(benefits: Sequence[CountBenefit], chosen: int) -> tuple[CountLine, ...]:
    """Each count with what it brings; the best one only where it beats plain decoding."""
    known = [one.speedup for one in benefits if one.speedup is not None]
    top = max(known, default=0.0)
    best = next((one.count for one in benefits if one.speedup == top and top > 1), None)
    return tuple(
        CountLine(
            count=one.count,
            tokens_per_step=one.tokens_per_step,
            speedup=one.speedup,
            chosen=one.count == chosen,
            best=one.count == best,
        )
        for one in benefits
    )


def break_even_text(curve: SpeedCurve) -> str:
    """Where it stops paying, as a range, in words; the numbers are requests at once."""
    if not curve.known:
        return _("no data")
    low, high = curve.break_even_low, curve.break_even_high
    if curve.break_even == 0 and not high:
        return _("never pays")
    if low is None:
        return _("beyond 4096")
    if high is None:
        return _("%(low)s to beyond 4096") % {"low": low}
    if low == high:
        return str(low)
    return _("%(low)s to %(high)s") % {"low": low, "high": high}


def bound_word(bound: str) -> str:
    """What limits a step."""
    words = {"memory": _("memory bandwidth"), "compute": _("compute")}
    return words.get(bound, "")


def _ratio(thousandths: int | None) -> float | None:
    return None if thousandths is None else thousandths / THOUSAND

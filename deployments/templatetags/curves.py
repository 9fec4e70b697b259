"""The speed-up curve as SVG: one line over concurrency with its band, break-even and what nobody measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.translation import gettext as _

from deployments.selectors.speed_curves import (
    CountLine,
    CurvePoint,
    SpeedCurve,
    bound_word,
    break_even_text,
)
from deployments.templatetags.figures import figure

register = template.Library()

PLOT = 168
TOP = 14
STEP = 0.5
SMALLEST_TOP = 2.0
APART = 8.0
"""Per cent of the width between two numbers below the drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number on an axis: a share of the width in per cent, or pixels from the top."""

    text: str
    place: str
    side: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From concurrency to per cent of the width (by its logarithm), from speed-up to pixels."""

    first: int
    last: int
    low: float
    high: float

    def x(self, concurrency: float) -> float:
        """Per cent from the left, within the drawing."""
        span = math.log(self.last / self.first) or 1.0
        share = math.log(max(concurrency, self.first) / self.first) / span
        return 100 * min(1.0, share)

    def y(self, speedup: float) -> float:
        """Pixels from the top."""
        share = (speedup - self.low) / (self.high - self.low)
        return TOP + PLOT * (1 - min(1.0, max(0.0, share)))


@register.inclusion_tag("components/speed_curve.html")
def speed_curve(curve: SpeedCurve, name: str = "curve") -> dict[str, Any]:
    """The curve and the table of the same numbers; ``name`` keeps ids of one page apart."""
    context: dict[str, Any] = {"curve": curve, "name": name, "drawn": curve.known}
    rows = [(one, bound_word(one.bound)) for one in curve.points]
    context |= {"rows": rows, "bounds": any(word for _point, word in rows)}
    if not curve.known:
        return context
    scale = _scale(curve)
    known = [one for one in curve.points if one.speedup is not None]
    sure = [one for one in known if one.low is not None]
    asked = curve.at(curve.asked)
    unsure = known[len(sure) - 1 :] if sure else known
    here = asked.speedup if asked is not None else None
    return context | {
        "title": _("Speed-up over requests at once, %(count)s draft tokens")
        % {"count": curve.count},
        "description": _description(curve, known),
        "height": TOP + PLOT + 36,
        "floor": TOP + PLOT,
        "top": TOP,
        "label_y": TOP + PLOT + 16,
        "name_y": TOP + PLOT + 32,
        "band": _band(scale, sure),
        "line": _line(scale, sure),
        "guess": _line(scale, unsure) if len(unsure) > 1 else "",
        "unmeasured": _unmeasured(scale, sure, known),
        "one": f"{scale.y(1):.1f}",
        "levels": _levels(scale),
        "ticks": _ticks(scale, known),
        "turning": _turning(scale, curve),
        "dot": (f"{scale.x(curve.asked):.2f}%", f"{scale.y(here):.1f}")
        if here is not None
        else None,
        "here": here,
        "here_side": "end" if scale.x(curve.asked) > 60 else "",
    }


@register.inclusion_tag("components/count_benefit.html")
def count_benefit(
    lines: Sequence[CountLine], asked: int, name: str = "counts"
) -> dict[str, Any]:
    """Each num_speculative_tokens with its speed-up as a bar; the chosen and the best are marked."""
    top = max((one.speedup or 0.0 for one in lines), default=0.0) or 1.0
    rows = [
        (one, f"{100 * one.speedup / top:.1f}%" if one.speedup is not None else "")
        for one in lines
    ]
    one = f"{min(100.0, 100 / top):.1f}%"
    return {"rows": rows, "asked": asked, "name": name, "one": one}


@register.filter
def break_even(curve: SpeedCurve) -> str:
    """Where it stops paying, in requests at once."""
    return break_even_text(curve)


def _scale(curve: SpeedCurve) -> Scale:
    values = [
        value
        for one in curve.points
        for value in (one.speedup, one.low, one.high)
        if value is not None
    ]
    first, last = curve.points[0].concurrency, curve.points[-1].concurrency
    return Scale(
        first=first,
        last=max(last, first + 1),
        low=min(STEP, math.floor(min(values) / STEP) * STEP),
        high=max(SMALLEST_TOP, math.ceil(max(values) / STEP) * STEP),
    )


def _line(scale: Scale, points: Sequence[CurvePoint]) -> str:
    places = [
        f"{scale.x(one.concurrency):.2f} {scale.y(one.speedup):.1f}"
        for one in points
        if one.speedup is not None
    ]
    return f"M{'L'.join(places)}" if places else ""


def _band(scale: Scale, sure: Sequence[CurvePoint]) -> str:
    upper = [
        f"{scale.x(one.concurrency):.2f} {scale.y(one.high):.1f}"
        for one in sure
        if one.high is not None
    ]
    lower = [
        f"{scale.x(one.concurrency):.2f} {scale.y(one.low):.1f}"
        for one in reversed(sure)
        if one.low is not None
    ]
    return f"M{'L'.join([*upper, *lower])}Z" if len(upper) > 1 else ""


def _unmeasured(
    scale: Scale, sure: Sequence[CurvePoint], known: Sequence[CurvePoint]
) -> tuple[str, str] | None:
    """(start, width) of the part in which nothing was measured."""
    if len(sure) == len(known):
        return None
    start = scale.x(sure[-1].concurrency) if sure else 0.0
    return f"{start:.2f}%", f"{100 - start:.2f}%"


def _turning(scale: Scale, curve: SpeedCurve) -> tuple[str, str] | None:
    """(from, to) of the break-even range, as far as it is inside of the drawing."""
    low, high = curve.break_even_low, curve.break_even_high
    if low is None or low >= scale.last or high == 0:
        return None
    end = scale.last if high is None else min(high, scale.last)
    return f"{scale.x(max(low, scale.first)):.2f}%", f"{scale.x(end):.2f}%"


def _levels(scale: Scale) -> list[Mark]:
    step = STEP if scale.high - scale.low <= 3 else 2 * STEP
    steps = range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)
    return [
        Mark(text=figure(number * step, 1), place=f"{scale.y(number * step):.1f}")
        for number in steps
    ]


def _ticks(scale: Scale, points: Sequence[CurvePoint]) -> list[Mark]:
    """Powers of two and the last point, where they do not run into each other."""
    last = points[-1].concurrency
    ends = {scale.first: "", last: "end"}
    powers = [
        one.concurrency
        for one in points
        if not one.concurrency & (one.concurrency - 1)
        and scale.x(last) - scale.x(one.concurrency) > APART
    ]
    return [
        Mark(
            text=str(concurrency),
            place=f"{scale.x(concurrency):.2f}%",
            side=ends.get(concurrency, "mid"),
        )
        for concurrency in dict.fromkeys([*powers, last])
    ]


def _description(curve: SpeedCurve, known: Sequence[CurvePoint]) -> str:
    first, last = known[0], known[-1]
    said = _(
        "From %(first)s times as fast with %(from)s at once to %(last)s times with %(to)s at once; "
        "break-even: %(turning)s."
    ) % {
        "first": figure(first.speedup),
        "from": first.concurrency,
        "last": figure(last.speedup),
        "to": last.concurrency,
        "turning": break_even_text(curve),
    }
    return " ".join((said, _("All numbers stand in the table below.")))

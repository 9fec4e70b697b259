"""Acceptance records of a log as a line: rate over the order of the records, gaps as gaps."""

from collections.abc import Sequence
from typing import Any

from django import template

from deployments.templatetags.figures import percent

register = template.Library()

PLOT = 120
TOP = 10


@register.inclusion_tag("components/record_curve.html")
def record_curve(rates: Sequence[float | None]) -> dict[str, Any]:
    """Draw acceptance rates (fractions) from the first record to the last."""
    seen = [rate for rate in rates if rate is not None]
    return {
        "line": _path(rates),
        "height": TOP + PLOT + 24,
        "floor": TOP + PLOT,
        "label_y": TOP + PLOT + 18,
        "levels": [
            {"place": f"{TOP + PLOT * (1 - share):g}", "text": percent(share)}
            for share in (0.0, 0.5, 1.0)
        ],
        "count": len(rates),
        "lowest": min(seen, default=None),
        "highest": max(seen, default=None),
        "dot": f"{TOP + PLOT * (1 - seen[0]):.1f}" if len(rates) == 1 and seen else "",
    }


def _path(rates: Sequence[float | None]) -> str:
    """The line in a box that is 100 wide; a missing rate lifts the pen."""
    step = 100 / max(len(rates) - 1, 1)
    parts: list[str] = []
    down = False
    for place, rate in enumerate(rates):
        if rate is None:
            down = False
            continue
        share = min(1.0, max(0.0, rate))
        parts.append(
            f"{'L' if down else 'M'}{place * step:.2f} {TOP + PLOT * (1 - share):.1f}"
        )
        down = True
    return "".join(parts)

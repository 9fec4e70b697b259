"""Small drawings in SVG whose geometry needs arithmetic: position strip, sparkline, memory bar."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from deployments.selectors.texts import listed
from deployments.templatetags.figures import percent

register = template.Library()

CELL_STEP = 11
CELL_HEIGHT = 17
SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 136.0, 30.0, 4.0
SPARK = '<svg class="spark" width="136" height="30" aria-hidden="true">{}{}{}</svg>'
TICKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One draft position; ``filled`` is the height of its accepted share in pixels."""

    x: str
    y: str
    filled: str


def _px(value: float) -> str:
    return f"{value:.1f}"


@register.inclusion_tag("components/strip.html")
def strip(
    rates: Sequence[float | None] | None, positions: int | None = None
) -> dict[str, Any]:
    """The position strip: the target's own token, then one cell per draft position.

    ``rates`` are accepted shares from 0 to 1 by position, ``positions`` the number of cells where
    nothing was measured.
    """
    shares = list(rates or [None] * (positions or 0))
    cells = [
        Cell(
            x=_px(CELL_STEP * (place + 1) + 0.5),
            y=_px(0.5 + CELL_HEIGHT * (1 - min(share or 0.0, 1.0))),
            filled=_px(CELL_HEIGHT * min(share or 0.0, 1.0)),
        )
        for place, share in enumerate(shares)
    ]
    said = listed(percent(share) for share in shares)
    label = gettext("Accepted by position: %(rates)s") % {"rates": said}
    if all(share is None for share in shares):
        label = gettext("%(count)s draft positions, nothing measured") % {
            "count": len(shares)
        }
    return {
        "cells": cells,
        "width": CELL_STEP * (len(shares) + 1) - 1,
        "height": CELL_HEIGHT + 2,
        "own_height": CELL_HEIGHT,
        "label": label,
    }


@register.inclusion_tag("components/spark.html")
def spark(
    values: Sequence[float | None], label: str = "", low: float | None = None
) -> dict[str, Any]:
    """A line over evenly spaced values, scaled from ``low`` or the smallest of them to the largest.

    ``None`` is a gap, drawn as one.
    """
    line, gap, dot = spark_parts(values, low)
    return {"line": line, "gap": gap, "dot": dot, "label": label}


def spark_line(values: Sequence[float | None], low: float = 1.0) -> SafeString:
    """The same drawing without a label, for tables that are written row by row.

    Drawn from ``low``, the least acceptance length there is, as ``spark`` is on the overview.
    """
    line, gap, dot = spark_parts(values, low)
    return format_html(
        SPARK,
        format_html('<path d="{}"/>', line) if line else "",
        format_html('<path class="gap" d="{}"/>', gap) if gap else "",
        format_html('<circle cx="{}" cy="{}" r="2.4"/>', *dot) if dot else "",
    )


def spark_parts(
    values: Sequence[float | None], low: float | None = None
) -> tuple[str, str, tuple[str, str] | None]:
    """Path of the line, path of the gaps, and where the newest value is."""
    seen = [value for value in values if value is not None]
    bottom = min([*seen, *([] if low is None else [low])], default=0.0)
    span = (max(seen, default=bottom) - bottom) or 1.0
    step = (SPARK_WIDTH - SPARK_EDGE) / max(len(values) - 1, 1)
    floor = SPARK_HEIGHT - SPARK_EDGE
    scale = (SPARK_HEIGHT - 2 * SPARK_EDGE) / span
    lines: list[str] = []
    gaps: list[str] = []
    newest: tuple[str, str] | None = None
    gap_end = ""
    for place, value in enumerate(values):
        x = f"{place * step:.1f}"
        if value is None:
            gaps.extend(() if gap_end else (f"M{x} 15",))
            gap_end = x
            continue
        if gap_end:
            gaps.append(f"H{gap_end}")
        y = f"{floor - (value - bottom) * scale:.1f}"
        lines.append(f"{'M' if gap_end or newest is None else 'L'}{x} {y}")
        newest, gap_end = (x, y), ""
    if gap_end:
        gaps.append(f"H{gap_end}")
    return "".join(lines), "".join(gaps), newest


class MemoryPart(Protocol):
    """What a memory bar shows of one part; ``kind`` is weights, drafter, graphs, kv or free."""

    kind: str
    label: str
    size_bytes: int


@register.inclusion_tag("components/memory.html")
def memory_bar(
    parts: Iterable[MemoryPart], capacity_bytes: int | None
) -> dict[str, Any]:
    """One device's memory to scale, with a ruler; no drawing where the capacity is unknown."""
    listed = list(parts)
    boxes: list[dict[str, str]] = []
    start = 0.0
    for part in listed if capacity_bytes else []:
        width = part.size_bytes / (capacity_bytes or 1) * 100
        boxes.append(
            {"kind": part.kind, "x": f"{start:.2f}%", "width": f"{width:.2f}%"}
        )
        start += width
    ticks = [
        {
            "x": f"{place * 100 // TICKS}%",
            "bytes": (capacity_bytes or 0) * place // TICKS,
        }
        for place in range(TICKS + 1)
    ]
    return {"parts": listed, "boxes": boxes, "ticks": ticks, "capacity": capacity_bytes}

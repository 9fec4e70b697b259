"""Bars: request rate with speculation over without, drawn over the range that the seed names."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from deployments.telemetry.benchmarks.intervals import Ratio
from deployments.telemetry.benchmarks.verdict import Comparison

SEED_LOW, SEED_HIGH = 1.5, 2.5
"""The request rate that the field notes behind this panel expect: not measured by them."""

AXIS = 3.0
LINE = 34
TOP = 22
BOTTOM = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One load of one result; positions are per cent of the width or pixels of the height."""

    name: str
    concurrency: int | None
    value: float
    assumed: bool
    text_y: int
    y: int
    middle: int
    width: str
    low: str
    high: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A number on the axis."""

    value: int
    x: str
    first: bool
    last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """The drawing; ``one_x`` is where nothing changes."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    band_x: str
    band_width: str
    one_x: str
    height: int
    floor: int
    label_y: int


def bars_of(judged: Sequence[tuple[str, Comparison]]) -> Bars | None:
    """Draw every measured load; ``None`` when nothing may be compared."""
    levels = [
        (name, level, ratio)
        for name, comparison in judged
        for level in comparison.levels
        if (ratio := level.requests or level.throughput)
    ]
    if not levels:
        return None
    axis = max(AXIS, float(ceil(max(ratio.high for _name, _level, ratio in levels))))
    floor = TOP + LINE * len(levels)
    return Bars(
        bars=tuple(
            _bar(place, name, level.max_concurrency, ratio, axis)
            for place, (name, level, ratio) in enumerate(levels)
        ),
        ticks=tuple(
            Tick(
                value=value,
                x=_share(value, axis),
                first=value == 0,
                last=value == axis,
            )
            for value in range(0, int(axis) + 1, max(1, round(axis / 6)))
        ),
        band_x=_share(SEED_LOW, axis),
        band_width=_share(SEED_HIGH - SEED_LOW, axis),
        one_x=_share(1, axis),
        height=floor + BOTTOM,
        floor=floor,
        label_y=floor + 16,
    )


def _bar(
    place: int, name: str, concurrency: int | None, ratio: Ratio, axis: float
) -> Bar:
    top = TOP + LINE * place
    return Bar(
        name=name,
        concurrency=concurrency,
        value=ratio.value,
        assumed=ratio.assumed,
        text_y=top + 10,
        y=top + 15,
        middle=top + 20,
        width=_share(ratio.value, axis),
        low=_share(ratio.low, axis),
        high=_share(ratio.high, axis),
    )


def _share(value: float, axis: float) -> str:
    return f"{100 * value / axis:.2f}%"

"""The figures of a comparison as rows to read: what each is called, and its bar over what is expected."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.telemetry.before_after import BeforeAfter, Change, Measure

AXIS = 3.0
_NAMES: Mapping[Measure, Promise] = {
    Measure.OUTPUT: _("Time per output token P50"),
    Measure.REQUESTS: _("Requests per second"),
    Measure.CACHE: _("KV cache in use"),
    Measure.ACCEPTANCE: _("Acceptance rate"),
    Measure.LENGTH: _("Mean acceptance length"),
}
_KINDS: Mapping[Measure, str] = {
    Measure.OUTPUT: "latency",
    Measure.REQUESTS: "figure",
    Measure.CACHE: "percent",
    Measure.ACCEPTANCE: "percent",
    Measure.LENGTH: "figure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure; places are per cent of a drawing's width, empty where there is nothing to draw.

    A drawing shows the ratio of after to before from 0 to ``AXIS``, with a line at 1; that of
    acceptance the rate afterwards from 0 to 1. ``low`` and ``high`` are the ends of the range.
    """

    name: str
    kind: str
    change: Change
    shows_rate: bool
    bar: str
    one: str
    band_x: str
    band_width: str

    @property
    def low(self) -> float | None:
        """Where what is expected begins."""
        return self.change.expected[0] if self.change.expected else None

    @property
    def high(self) -> float | None:
        """Where it ends."""
        return self.change.expected[1] if self.change.expected else None

    @property
    def moved(self) -> float | None:
        """The change as a fraction of before."""
        return None if self.change.ratio is None else self.change.ratio - 1


def rows_of(pair: BeforeAfter) -> tuple[Row, ...]:
    """Every figure of the comparison, in the order of reading."""
    return tuple(map(_row, pair.changes))


def _row(change: Change) -> Row:
    shows_rate = change.measure is Measure.ACCEPTANCE
    axis = 1.0 if shows_rate else AXIS
    value = change.after if shows_rate else change.ratio
    band = change.expected
    return Row(
        name=str(_NAMES[change.measure]),
        kind=_KINDS[change.measure],
        change=change,
        shows_rate=shows_rate,
        bar="" if value is None else _share(min(value, axis), axis),
        one="" if shows_rate else _share(1.0, axis),
        band_x=_share(band[0], axis) if band else "",
        band_width=_share(band[1] - band[0], axis) if band else "",
    )


def _share(value: float, axis: float) -> str:
    """With a point whatever the language."""
    return f"{100 * value / axis:.2f}"

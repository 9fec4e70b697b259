"""The numbers of an acceptance history, for its chart and for a file."""

from collections.abc import Iterator, Sequence

from django.utils import timezone

from deployments.models import Alarm
from deployments.selectors.acceptance import History, Step
from deployments.selectors.acceptance_range import NANOSECONDS
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.baseline import Band

FIGURES = (
    "accepted",
    "drafted",
    "num_drafts",
    "acceptance_rate",
    "mean_acceptance_length",
)


def numbers(seen: History, alarms: Sequence[Alarm] = ()) -> dict[str, object]:
    """The document of the chart; times are seconds since 1970, unknown is null."""
    return {
        "range": seen.range.key,
        "step_s": seen.range.step_s,
        "time_zone": timezone.get_current_timezone_name(),
        "from": seen.range.start_s,
        "to": seen.range.end_s,
        "buckets": [_step(step) for step in seen.steps],
        "totals": {"windows": seen.windows, **_counts(seen.totals)},
        "per_position": list(seen.totals.per_position) or None,
        "baseline": {
            "hours": seen.baseline.hours,
            "mean_acceptance_length": _band(seen.baseline.length),
            "acceptance_rate": _band(seen.baseline.rate),
        },
        "markers": [
            {
                "at": int(marker.at.timestamp()),
                "kind": marker.kind,
                "release": marker.release.number,
                "revision": marker.release.plan.revision.number,
            }
            for marker in seen.markers
        ],
        "alarms": [
            {
                "at": int(row.began_at.timestamp()),
                "to": int(row.closed_at.timestamp()) if row.closed_at else None,
                "kind": "alarm",
                "name": str(row.get_kind_display()),
            }
            for row in alarms
        ],
        "log_gaps": [
            {
                "from": gap.from_ns // NANOSECONDS,
                "to": -(-gap.to_ns // NANOSECONDS),
                "reason": gap.reason,
            }
            for gap in seen.log_gaps
        ],
        "against": {
            "from": seen.against.range.start_s,
            "to": seen.against.range.end_s,
            "buckets": [_step(step) for step in seen.against.steps],
            "totals": _counts(seen.against.totals),
        }
        if seen.against
        else None,
    }


def file_rows(seen: History) -> Iterator[Sequence[object]]:
    """The lines of a file, oldest first; times are ISO 8601 in the person's zone."""
    positions = max(
        (len(step.counts.per_position) for step in seen.steps if step.counts), default=0
    )
    places = [f"accepted_at_{place}" for place in range(1, positions + 1)]
    yield ["from", "to", "state", *FIGURES, *places]
    for step in seen.steps:
        shares = step.counts.per_position if step.counts else ()
        figures = _counts(step.counts)
        start = timezone.localtime(step.start)
        yield [
            start.isoformat(timespec="seconds"),
            timezone.localtime(step.end).isoformat(timespec="seconds"),
            step.state.value,
            *("" if figures[name] is None else figures[name] for name in FIGURES),
            *shares,
            *[""] * (positions - len(shares)),
        ]


def _step(step: Step) -> dict[str, object]:
    return {
        "from": step.start_s,
        "to": step.end_s,
        "state": step.state.value,
        **_counts(step.counts),
        "per_position": step.counts and step.counts.per_position_rates,
    }


def _band(band: Band | None) -> list[float] | None:
    return [band.low, band.high] if band else None


def _counts(counts: Counts | None) -> dict[str, float | int | None]:
    if counts is None:
        return dict.fromkeys(FIGURES)
    return {name: getattr(counts, name) for name in FIGURES}

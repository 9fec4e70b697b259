"""The accuracy table: numbers for machines and lines for people."""

from collections import Counter
from dataclasses import dataclass

from benchmarks.speedup.accuracy import (
    PUBLISHED_TWO_CONSTANTS,
    Errors,
    LogErrors,
    Sweep,
    calibrated_errors,
    errors_of,
    left_out_errors,
    left_out_two_constant_errors,
    shipped_errors,
    splits,
    sweeps,
    two_constant_errors,
)
from benchmarks.speedup.priors import prior_constants
from benchmarks.speedup.rows import Measurement, Points
from deployments.planning.canonical import Json
from deployments.planning.speedup.constants import Constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that the benchmark prints. ``left_out`` parts are ``None`` for another file."""

    points: Points
    shipped: Errors
    calibrated: Errors | None
    untuned: Errors
    two_constants: Errors
    left_out: Errors | None
    left_out_calibrated: Errors | None
    left_out_two_constants: Errors | None
    by: dict[str, dict[str, tuple[Errors, ...]]]
    sweeps: tuple[Sweep, ...]

    @property
    def wins(self) -> tuple[int, int]:
        """In how many splits the model's median beats the simple formula's, and of how many."""
        pairs = [pair for group in self.by.values() for pair in group.values()]
        return sum(model.median < simple.median for model, simple in pairs), len(pairs)


def report(points: Points, constants: Constants, *, fitted_file: bool) -> Report:
    """Measure the shipped constants, and on the fitted file also constants fitted without a source.

    Raises:
        ValueError: the file has no usable row.
    """
    rows = points.measurements
    if not rows:
        raise ValueError("The file has no row that the model can be asked about.")
    shipped = shipped_errors(rows, constants)
    simple = two_constant_errors(rows, *PUBLISHED_TWO_CONSTANTS)
    judged, judged_simple = shipped, simple
    if fitted_file:
        judged, judged_simple = (
            left_out_errors(rows),
            left_out_two_constant_errors(rows),
        )
    return Report(
        points=points,
        shipped=errors_of(shipped.values()),
        calibrated=_errors_or_none(calibrated_errors(rows, shipped)),
        untuned=errors_of(shipped_errors(rows, prior_constants()).values()),
        two_constants=errors_of(simple.values()),
        left_out=errors_of(judged.values()) if fitted_file else None,
        left_out_calibrated=_errors_or_none(calibrated_errors(rows, judged))
        if fitted_file
        else None,
        left_out_two_constants=errors_of(judged_simple.values())
        if fitted_file
        else None,
        by={
            "hardware": splits(rows, _hardware, judged, judged_simple),
            "method": splits(rows, _method, judged, judged_simple),
        },
        sweeps=sweeps(rows, lambda row: row.predicted(constants)),
    )


def as_document(found: Report) -> dict[str, Json]:
    """Return the numbers as one JSON object; errors are fractions."""
    wins, of = found.wins
    regrets = [sweep.regret for sweep in found.sweeps]
    return {
        "rows": found.points.rows,
        "used": found.shipped.rows,
        "median_error": round(found.shipped.median, 4),
        "p90_error": round(found.shipped.ninety, 4),
        "leave_source_out": _document(found.left_out),
        "calibrated": _document(found.left_out_calibrated or found.calibrated),
        "untuned": _document(found.untuned),
        "two_constants": _document(found.two_constants),
        "two_constants_leave_source_out": _document(found.left_out_two_constants),
        "best_k_regret_mean": round(sum(regrets) / len(regrets), 4)
        if regrets
        else None,
        "best_k_regret_max": round(max(regrets), 4) if regrets else None,
        "best_k_sweeps": len(regrets),
        "splits_won": wins,
        "splits": of,
        "by": {
            kind: {
                name: {
                    **_split(model),
                    "two_constants": _split(simple),
                }
                for name, (model, simple) in groups.items()
            }
            for kind, groups in found.by.items()
        },
        "left_out": dict(Counter(found.points.left_out.values()).most_common()),
    }


def as_text(found: Report) -> str:
    """Return the table for people."""
    wins, of = found.wins
    regrets = [sweep.regret for sweep in found.sweeps]
    lines = [
        f"{found.shipped.rows} of {found.points.rows} rows used.",
        "",
        f"{'':44}{'rows':>5}{'median':>9}{'p90':>9}",
        _line("shipped constants", found.shipped),
        _line("constants before any fit", found.untuned),
        _line("two constants (.09, .32)", found.two_constants),
        _line("without the row's source", found.left_out),
        _line("two constants without the row's source", found.left_out_two_constants),
        _line("shipped, one calibrating row", found.calibrated),
        _line("without the source, one calibrating row", found.left_out_calibrated),
        "",
        f"{'by hardware and method':44}{'rows':>5}{'median':>9}{'p90':>9}  two constants",
    ]
    for groups in found.by.values():
        lines += [
            _line(name, model) + f"  {simple.median:.1%} / {simple.ninety:.1%}"
            for name, (model, simple) in groups.items()
        ]
    lines += ["", f"Better than two constants in {wins} of {of} splits (median)."]
    if regrets:
        lines.append(
            f"Choice of num_speculative_tokens: {sum(regrets) / len(regrets):.1%} mean and "
            f"{max(regrets):.1%} largest regret in {len(regrets)} sweeps."
        )
    lines += ["", "Left out:"]
    lines += [
        f"{count:5} {reason}"
        for reason, count in Counter(found.points.left_out.values()).most_common()
    ]
    return "\n".join(lines)


def _errors_or_none(errors: LogErrors) -> Errors | None:
    return errors_of(errors.values()) if errors else None


def _split(errors: Errors) -> dict[str, Json]:
    return {
        "rows": errors.rows,
        "median_error": round(errors.median, 4),
        "p90_error": round(errors.ninety, 4),
    }


def _document(errors: Errors | None) -> Json:
    return None if errors is None else _split(errors)


def _line(name: str, errors: Errors | None) -> str:
    if errors is None:
        return f"{name:44}{'no data':>8}"
    return f"{name:44}{errors.rows:5}{errors.median:9.1%}{errors.ninety:9.1%}"


def _hardware(row: Measurement) -> str:
    return row.hardware


def _method(row: Measurement) -> str:
    return row.method

"""``fit_speedup.py [--check]``: fit the constants of the speed model and write them."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.speedup.accuracy import (
    LogErrors,
    calibrated_errors,
    errors_of,
    left_out_errors,
)
from benchmarks.speedup.fitting import fit
from benchmarks.speedup.priors import PRIORS
from benchmarks.speedup.rows import (
    SHIPPED_POINTS,
    Measurement,
    read_points,
)
from deployments.planning.canonical import Json

TARGET = (
    Path(__file__).resolve().parent.parent
    / "deployments/planning/speedup/data/constants.json"
)


def main(arguments: list[str] | None = None) -> int:
    """Fit and write; with ``--check`` only say whether the shipped file is what the fit gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    text = json.dumps(fitted_document(), indent=2) + "\n"
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write("constants.json is not what the fit gives; run it again.\n")
    return 1


def fitted_document() -> dict[str, Json]:
    """Return the constants, their priors, and the error bands of predictions."""
    points = read_points(SHIPPED_POINTS)
    rows = points.measurements
    values = asdict(fit(rows))
    unseen = left_out_errors(rows)
    calibrated = calibrated_errors(rows, unseen)
    return {
        "fitted_on": {
            "rows": len(rows),
            "sources": len({row.source for row in rows}),
            "points_sha256": points.digest(),
        },
        "constants": {
            name: {
                "value": float(f"{values[name]:.4g}"),
                "unit": prior.unit,
                "prior": prior.value,
                "prior_spread": prior.spread,
                "basis": prior.basis,
            }
            for name, prior in PRIORS.items()
        },
        "bands": {
            "dense": _band([row for row in rows if not row.shape.mixture], unseen),
            "mixture": _band([row for row in rows if row.shape.mixture], unseen),
            "calibrated": _band(
                [row for row in rows if row.key in calibrated], calibrated
            ),
        },
    }


def _band(rows: list[Measurement], errors: LogErrors) -> dict[str, Json]:
    found = errors_of(errors[row.key] for row in rows)
    return {
        "rows": found.rows,
        "median": round(found.median, 3),
        "ninety": round(found.ninety, 3),
    }


if __name__ == "__main__":
    sys.exit(main())

"""``speedup_accuracy.py [--points FILE.csv] [--json]``: the speed model against measurements."""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.speedup.report import as_document, as_text, report
from benchmarks.speedup.rows import SHIPPED_POINTS, read_points
from deployments.planning.speedup.constants import shipped_fit


def main(arguments: list[str] | None = None) -> int:
    """Print the accuracy table; 2 when the file cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=Path, default=SHIPPED_POINTS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    fit = shipped_fit()
    try:
        points = read_points(options.points)
        found = report(
            points, fit.constants, fitted_file=points.digest() == fit.points_sha256
        )
    except (OSError, KeyError, ValueError) as error:
        sys.stderr.write(f"{options.points} cannot be used: {error}\n")
        return 2
    text = json.dumps(as_document(found)) if options.json else as_text(found)
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

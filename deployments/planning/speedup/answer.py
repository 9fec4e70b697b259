"""A prediction as the JSON object that commands and pages give out."""

from deployments.planning.canonical import Json
from deployments.planning.speedup.acceptance import SEED_REASON
from deployments.planning.speedup.prediction import SpeedPrediction


def prediction_answer(found: SpeedPrediction) -> dict[str, Json]:
    """Return the object; speed-ups are ratios, unknown is null."""
    turning = found.break_even
    return {
        "expected_tokens_per_step": _rounded(found.expected_tokens_per_step),
        "seed_formula": _rounded(found.seed_formula),
        "seed_formula_misleads": SEED_REASON,
        "draft_cost": _rounded(found.draft_cost, 4),
        "curve": [
            {
                "concurrency": point.concurrency,
                "speedup": _rounded(point.speedup),
                "low": _rounded(point.low),
                "high": _rounded(point.high),
                "bound": point.bound,
                "best_num_speculative_tokens": point.best_num_speculative_tokens,
            }
            for point in found.curve
        ],
        "best_num_speculative_tokens": found.best_num_speculative_tokens,
        "break_even_concurrency": turning.concurrency,
        "break_even_range": [turning.low, turning.high],
        "measured_up_to_concurrency": found.measured_up_to,
        "error_band": {
            "basis": found.band.name,
            "rows": found.band.rows,
            "median": found.band.median,
            "ninety": found.band.ninety,
        },
        "kind": found.kind,
        "source": found.source,
        "sentence": found.sentence,
        "warnings": list(found.warnings),
    }


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)

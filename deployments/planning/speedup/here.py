"""Predictions corrected by what was measured on the deployment itself: which measurement, and how."""

import math
from collections.abc import Sequence

from deployments.planning.errors import PlanningError
from deployments.planning.measured import THOUSAND, Measured
from deployments.planning.methods import Method
from deployments.planning.speedup.acceptance import (
    Acceptance,
    Origin,
    from_mean_length,
)
from deployments.planning.speedup.calibration import Calibration, calibrate_ratio
from deployments.planning.speedup.cost import Case


def acceptance_here(seen: Measured) -> Acceptance:
    """Return the acceptance that was seen."""
    return from_mean_length(
        seen.mean_acceptance_length / THOUSAND,
        seen.num_speculative_tokens,
        method=Method(seen.method),
        origin=Origin(kind="measured", source=seen.source),
    )


def newest_acceptance(
    measured: Sequence[Measured], model: str, method: Method
) -> Measured | None:
    """Return the newest that saw this method draft for this model."""
    found = _of(measured, model, method)
    return max(found, key=_by_age, default=None)


def nearest_pair(
    measured: Sequence[Measured], model: str, method: Method, concurrency: int
) -> Measured | None:
    """Return the pair of the newest day whose load is nearest to this one."""
    pairs = [
        one
        for one in _of(measured, model, method)
        if one.speedup is not None and one.concurrency is not None
    ]
    newest = max((one.day for one in pairs), default="")
    return min(
        (one for one in pairs if one.day == newest),
        key=lambda one: (_apart(one, concurrency), _by_age(one)),
        default=None,
    )


def calibration_by(pair: Measured, case: Case, instances: int) -> Calibration | None:
    """Return the correction by a pair whose load so many instances shared.

    ``None`` where the pair cannot be: its acceptance is impossible for its count.
    """
    if pair.concurrency is None or not pair.speedup:
        return None
    try:
        return calibrate_ratio(
            case,
            concurrency=max(1, -(-pair.concurrency // instances)),
            num_speculative_tokens=pair.num_speculative_tokens,
            speedup=pair.speedup / THOUSAND,
            mean_acceptance_length=pair.mean_acceptance_length / THOUSAND,
            source=pair.source,
        )
    except PlanningError:
        return None


def _of(measured: Sequence[Measured], model: str, method: Method) -> list[Measured]:
    return [
        one
        for one in measured
        if (one.model, one.method) == (model, method.value)
        and THOUSAND
        <= one.mean_acceptance_length
        <= THOUSAND * (one.num_speculative_tokens + 1)
    ]


def _by_age(one: Measured) -> tuple[str, int, int, int]:
    """The newest last; then by numbers, so that no order of rows decides."""
    speed = (one.concurrency or 0, one.speedup or 0)
    return one.day, one.mean_acceptance_length, *speed


def _apart(one: Measured, concurrency: int) -> float:
    return abs(math.log((one.concurrency or 1) / max(1, concurrency)))

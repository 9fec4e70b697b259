"""Correction of predictions by what was measured on the deployment itself."""

from dataclasses import dataclass

from deployments.planning.errors import PlanningError
from deployments.planning.speedup.cost import Case, StepCost
from deployments.planning.text import Text, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One benchmark without and one with speculation, at the same concurrency.

    Both numbers are times per output token in ms. ``mean_acceptance_length`` is what the second
    one logged, bonus token included.
    """

    concurrency: int
    num_speculative_tokens: int
    baseline_tpot_ms: float
    speculative_tpot_ms: float
    mean_acceptance_length: float
    source: str

    @property
    def speedup(self) -> float:
        """Return the measured speed-up."""
        return self.baseline_tpot_ms / self.speculative_tpot_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Measured over predicted speed-up of one observation: a factor on every other prediction.

    It stands for what the model cannot see: kernels, engine version, the host's processor.
    ``concurrency`` is the load of one instance that was measured.
    """

    factor: float
    source: Text | str
    concurrency: int


def calibrate(case: Case, observation: Observation) -> Calibration:
    """Return the correction that one pair of measurements gives.

    Raises:
        PlanningError: a time is not positive, or the acceptance length is impossible.
    """
    if observation.baseline_tpot_ms <= 0 or observation.speculative_tpot_ms <= 0:
        raise PlanningError(
            text(
                "A measured time per output token must be above 0 ms; leave it out if unknown."
            )
        )
    return calibrate_ratio(
        case,
        concurrency=observation.concurrency,
        num_speculative_tokens=observation.num_speculative_tokens,
        speedup=observation.speedup,
        mean_acceptance_length=observation.mean_acceptance_length,
        source=observation.source,
    )


def calibrate_ratio(  # noqa: PLR0913 - one pair of measurements is six facts
    case: Case,
    *,
    concurrency: int,
    num_speculative_tokens: int,
    speedup: float,
    mean_acceptance_length: float,
    source: Text | str,
) -> Calibration:
    """Return the correction by a measured speed-up and the acceptance length it was reached with.

    Raises:
        PlanningError: the acceptance length is impossible.
    """
    count, length = num_speculative_tokens, mean_acceptance_length
    if not 1 <= length <= count + 1:
        raise PlanningError(
            text(
                "A mean acceptance length with {count} draft tokens lies between 1 and {most}, "
                "not {length}; it counts the bonus token.",
                count=count,
                most=count + 1,
                length=f"{length:g}",
            )
        )
    predicted = case.cost(concurrency, count).speedup(length)
    return Calibration(
        factor=speedup / predicted, source=source, concurrency=concurrency
    )


def corrected(
    cost: StepCost, tokens_per_step: float, calibration: Calibration | None
) -> float:
    """Return the speed-up of one point, corrected if there is something to correct by."""
    factor = calibration.factor if calibration else 1.0
    return cost.speedup(tokens_per_step) * factor

"""What each number of draft tokens brings at one load: tokens per step and speed-up."""

from dataclasses import dataclass

from deployments.planning.methods import ASCEND_MAX_TOKENS_PER_STEP, Method
from deployments.planning.speedup.acceptance import Acceptance
from deployments.planning.speedup.calibration import Calibration, corrected
from deployments.planning.speedup.cost import Case
from deployments.planning.speedup.drafting import DrafterKind, drafting_of

_MOST_TOKENS = 8
_MOST_IN_PARALLEL = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class CountBenefit:
    """One num_speculative_tokens; ``speedup`` is ``None`` where the device's figures are unknown."""

    count: int
    tokens_per_step: float
    speedup: float | None


def counts_of(method: Method, platform: str, chosen: int) -> range:
    """Return the counts that are weighed against each other, the chosen one among them."""
    parallel = drafting_of(method).kind is DrafterKind.PARALLEL
    most = max(_MOST_IN_PARALLEL if parallel else _MOST_TOKENS, chosen)
    if platform.startswith("ascend"):
        most = min(most, ASCEND_MAX_TOKENS_PER_STEP - 1)
    return range(1, most + 1)


def benefits(
    case: Case | None,
    acceptance: Acceptance,
    counts: range,
    concurrency: int,
    calibration: Calibration | None,
) -> tuple[CountBenefit, ...]:
    """Return what each count brings with so many sequences at once."""
    load = case.load(concurrency) if case else None
    found = []
    for count in counts:
        tokens = acceptance.tokens_per_step(count)
        cost = case.cost_under(load, count) if case and load else None
        speedup = None if cost is None else corrected(cost, tokens, calibration)
        found.append(CountBenefit(count=count, tokens_per_step=tokens, speedup=speedup))
    return tuple(found)

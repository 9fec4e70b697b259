"""What speculation is expected to bring a role, in the form that a plan stores."""

from dataclasses import dataclass, replace

from deployments.planning.catalog import Drafter, TargetModel
from deployments.planning.errors import PlanningError
from deployments.planning.measured import Measured
from deployments.planning.methods import Method
from deployments.planning.plan import Gain, GainPoint, Role
from deployments.planning.revision import Workload
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.speedup.accelerators import (
    Accelerator,
    find_accelerator,
    usual_accelerator,
)
from deployments.planning.speedup.benefit import CountBenefit
from deployments.planning.speedup.here import (
    acceptance_here,
    calibration_by,
    nearest_pair,
    newest_acceptance,
)
from deployments.planning.speedup.prediction import (
    USUAL_CONCURRENCY,
    Question,
    SpeedPoint,
    benefit_by_count,
    case_of_question,
    predict,
)
from deployments.planning.speedup.priors import assumed_acceptance
from deployments.planning.speedup.shape import (
    ModelShape,
    shape_of_model,
    shape_of_name,
)
from deployments.planning.speedup.step_time import Serving, weight_bytes

THOUSAND = 1000
USUAL_QUANTISATION = "bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One instance of the role that writes replies, and its share of the work.

    ``quantisation`` is the checkpoint's, ``concurrency`` the requests that one instance serves,
    ``instances`` how many of them the deployment has. ``measured`` was seen on the deployment itself.
    """

    model: TargetModel
    host: HostSnapshot
    quantisation: str | None
    role: Role
    tensor_parallel_size: int
    data_parallel_size: int
    workload: Workload
    concurrency: int
    instances: int = 1
    measured: tuple[Measured, ...] = ()


def expected_gain(
    situation: Situation,
    method: Method,
    count: int,
    drafter: Drafter | None,
    *,
    draft_eager: bool = False,
) -> Gain | None:
    """Predict tokens per step and speed-up, ``None`` where the model's size is unknown."""
    question = _question(situation, method, count, drafter, draft_eager=draft_eager)
    if question is None:
        return None
    found = predict(question)
    seen, pair = _measurements(situation, method)
    used = [seen, pair if question.calibration is not None else None]
    turning = found.break_even
    return Gain(
        method=method.value,
        num_speculative_tokens=count,
        concurrency=situation.concurrency,
        tokens_per_step=round(found.expected_tokens_per_step * THOUSAND),
        points=tuple(_point(one) for one in found.curve),
        best_num_speculative_tokens=found.best_num_speculative_tokens,
        break_even=turning.concurrency,
        break_even_low=turning.low,
        break_even_high=turning.high,
        measured_up_to=found.measured_up_to,
        kind=found.kind,
        source=found.source,
        sentence=found.sentence,
        warnings=found.warnings,
        measured=tuple(dict.fromkeys(one for one in used if one is not None)),
    )


def expected_benefits(
    situation: Situation,
    method: Method,
    count: int,
    drafter: Drafter | None,
    *,
    draft_eager: bool = False,
) -> tuple[CountBenefit, ...]:
    """Predict what each num_speculative_tokens brings at the situation's concurrency."""
    question = _question(situation, method, count, drafter, draft_eager=draft_eager)
    if question is None:
        return ()
    return benefit_by_count(question, situation.concurrency)


def _question(
    situation: Situation,
    method: Method,
    count: int,
    drafter: Drafter | None,
    *,
    draft_eager: bool,
) -> Question | None:
    shape = shape_of_model(situation.model)
    quantisation = situation.quantisation or USUAL_QUANTISATION
    if shape is None or count < 1 or weight_bytes(quantisation) is None:
        return None
    apart = situation.role is Role.DECODE
    work = situation.workload
    seen, pair = _measurements(situation, method)
    question = Question(
        shape=shape,
        serving=Serving(
            accelerator=accelerator_of(situation.host),
            devices=situation.tensor_parallel_size * situation.data_parallel_size,
            quantisation=quantisation,
            data_parallel=situation.data_parallel_size,
            context_tokens=work.input_tokens + work.output_tokens / 2,
            prompt_tokens=None if apart else work.input_tokens,
            output_tokens=None if apart else work.output_tokens,
            eager_drafter=draft_eager,
        ),
        method=method,
        acceptance=acceptance_here(seen) if seen else assumed_acceptance(method),
        num_speculative_tokens=count,
        concurrency=tuple(sorted({*USUAL_CONCURRENCY, situation.concurrency})),
        drafter=drafter_shape(method, drafter),
    )
    case = case_of_question(question) if pair is not None else None
    if pair is None or case is None:
        return question
    calibration = calibration_by(pair, case, situation.instances)
    return replace(question, calibration=calibration)


def _measurements(
    situation: Situation, method: Method
) -> tuple[Measured | None, Measured | None]:
    """What was seen of this method here: its newest acceptance, and the pair to correct by."""
    measured, model = situation.measured, situation.model.key
    load = situation.concurrency * situation.instances
    return (
        newest_acceptance(measured, model, method),
        nearest_pair(measured, model, method, load),
    )


def accelerator_of(host: HostSnapshot) -> Accelerator:
    """Return the device's figures; those of the platform's usual device when none is named."""
    if host.device is None:
        return usual_accelerator(host.platform)
    try:
        return find_accelerator(host.device)
    except PlanningError:
        return usual_accelerator("")


def drafter_shape(method: Method, drafter: Drafter | None) -> ModelShape | None:
    """Return the shape of a draft model, ``None`` for other methods or where it is unknown."""
    if method is not Method.DRAFT_MODEL or drafter is None:
        return None
    return shape_of_name(drafter.repository)


def _point(point: SpeedPoint) -> GainPoint:
    return GainPoint(
        concurrency=point.concurrency,
        speedup=_thousandths(point.speedup),
        low=_thousandths(point.low),
        high=_thousandths(point.high),
        best_num_speculative_tokens=point.best_num_speculative_tokens,
    )


def _thousandths(value: float | None) -> int | None:
    return None if value is None else round(value * THOUSAND)

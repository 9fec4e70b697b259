"""``manage.py predict_speedup``: tokens per step, speed-up by concurrency, best count, break-even."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.planning.catalog import TargetModel, find_target_model
from deployments.planning.errors import PlanningError
from deployments.planning.methods import FACTS, Method, normalise_method
from deployments.planning.speedup.accelerators import (
    find_accelerator,
    usual_accelerator,
)
from deployments.planning.speedup.acceptance import (
    Acceptance,
    Origin,
    from_mean_length,
    from_positions,
    from_rate,
)
from deployments.planning.speedup.answer import prediction_answer
from deployments.planning.speedup.calibration import (
    Calibration,
    Observation,
    calibrate,
)
from deployments.planning.speedup.constants import shipped_constants
from deployments.planning.speedup.cost import case_of
from deployments.planning.speedup.drafting import drafting_of
from deployments.planning.speedup.prediction import (
    USUAL_CONCURRENCY,
    Question,
    SpeedPrediction,
    predict,
)
from deployments.planning.speedup.priors import assumed_acceptance
from deployments.planning.speedup.shape import (
    ModelShape,
    shape_of_model,
    shape_of_name,
)
from deployments.planning.speedup.step_time import Serving, weight_bytes
from deployments.services.catalog import shipped_documents

UNUSABLE = 2
_GIVEN = Origin(kind="given", source="the command line")


class Command(BaseCommand):
    """Predict what speculation brings."""

    help = "Predict tokens per step and the speed-up of speculation by concurrency."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--model", required=True, help="such as zai-org/GLM-5.2")
        parser.add_argument("--platform", required=True, help="nvidia, ascend-a3, ...")
        parser.add_argument("--device", help="such as H100; else the platform's usual")
        parser.add_argument("--devices", type=int, required=True)
        parser.add_argument("--data-parallel", type=int, default=1)
        parser.add_argument("--quantization", help="bf16, fp8, w8a8, ...")
        parser.add_argument("--context-tokens", type=int, default=1000)
        parser.add_argument("--method", required=True)
        parser.add_argument("--draft-model", help="such as Qwen/Qwen3-0.6B")
        parser.add_argument("--eager-drafter", action="store_true")
        known = parser.add_mutually_exclusive_group()
        known.add_argument("--acceptance-rate", type=float, metavar="A")
        known.add_argument("--per-position", metavar="P1,P2,...")
        known.add_argument("--mean-acceptance-length", type=float, metavar="L")
        parser.add_argument("--num-speculative-tokens", type=int, metavar="K")
        parser.add_argument("--concurrency", nargs="+", help="1,8,32 or 1 8 32")
        parser.add_argument(
            "--measured",
            metavar="CONCURRENCY:TPOT_OFF:TPOT_ON:LENGTH",
            help="a pair of benchmarks here, times in ms per output token, to correct by",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Predict and print; exit 2 for unusable input."""
        try:
            found = predict(_question(options))
        except PlanningError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["json"]:
            answer = prediction_answer(found)
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
        else:
            self.stdout.write(_summary(found))


def _question(options: dict[str, Any]) -> Question:
    method = normalise_method(options["method"])
    shape, model = _shape(options["model"])
    serving = _serving(options, model)
    positions = _numbers(options["per_position"])
    count = options["num_speculative_tokens"]
    if count is None:
        count = len(positions) or FACTS[method].default_count
    if count < 1:
        raise PlanningError("--num-speculative-tokens must be at least 1.")
    drafter = shape_of_name(options["draft_model"]) if options["draft_model"] else None
    return Question(
        shape=shape,
        serving=serving,
        method=method,
        acceptance=_acceptance(options, method, positions, count),
        num_speculative_tokens=count,
        concurrency=_concurrency(options["concurrency"]),
        drafter=drafter,
        calibration=_calibration(options, shape, serving, method, drafter, count),
    )


def _shape(name: str) -> tuple[ModelShape, TargetModel | None]:
    published = shape_of_name(name)
    try:
        model = find_target_model(shipped_documents(), name)
    except PlanningError:
        if published is None:
            raise
        return published, None
    shape = shape_of_model(model)
    if shape is None:
        raise PlanningError(
            f"The catalog does not say how many parameters {model.name} has, so no time can be "
            "derived; add them to its entry."
        )
    return shape, model


def _serving(options: dict[str, Any], model: TargetModel | None) -> Serving:
    platform, device = options["platform"], options["device"]
    if options["devices"] < 1 or options["data_parallel"] < 1:
        raise PlanningError("--devices and --data-parallel must be at least 1.")
    quantisation = options["quantization"] or _usual_quantisation(model, platform)
    if weight_bytes(quantisation) is None:
        raise PlanningError(
            f"The size of {quantisation!r} weights is not known; name bf16, fp8, w8a8 or another."
        )
    return Serving(
        accelerator=find_accelerator(device) if device else usual_accelerator(platform),
        devices=options["devices"],
        data_parallel=options["data_parallel"],
        quantisation=quantisation,
        context_tokens=options["context_tokens"],
        eager_drafter=options["eager_drafter"],
    )


def _usual_quantisation(model: TargetModel | None, platform: str) -> str:
    for checkpoint in model.checkpoints if model else ():
        if platform in checkpoint.platforms and checkpoint.quantisation:
            return checkpoint.quantisation
    return "bf16"


def _acceptance(
    options: dict[str, Any], method: Method, positions: tuple[float, ...], count: int
) -> Acceptance:
    if positions:
        return from_positions(positions, method=method, origin=_GIVEN)
    if options["mean_acceptance_length"] is not None:
        length = options["mean_acceptance_length"]
        return from_mean_length(length, count, method=method, origin=_GIVEN)
    if options["acceptance_rate"] is not None:
        rate = options["acceptance_rate"]
        return from_rate(rate, count, method=method, origin=_GIVEN)
    return assumed_acceptance(method)


def _calibration(  # noqa: PLR0913, PLR0917 - one pair of benchmarks needs the whole case
    options: dict[str, Any],
    shape: ModelShape,
    serving: Serving,
    method: Method,
    drafter: ModelShape | None,
    count: int,
) -> Calibration | None:
    if options["measured"] is None:
        return None
    told = options["measured"].split(":")
    numbers = _numbers(",".join(told))
    case = case_of(shape, serving, drafting_of(method, drafter), shipped_constants())
    if len(numbers) != 4 or case is None:
        raise PlanningError(
            "--measured needs four numbers, CONCURRENCY:TPOT_OFF:TPOT_ON:LENGTH, and a device "
            "with published figures."
        )
    concurrency, off, on, length = numbers
    return calibrate(
        case,
        Observation(
            concurrency=_positive(int(concurrency)),
            num_speculative_tokens=count,
            baseline_tpot_ms=off,
            speculative_tpot_ms=on,
            mean_acceptance_length=length,
            source=f"one pair at concurrency {int(concurrency)}",
        ),
    )


def _concurrency(told: Iterable[str] | None) -> tuple[int, ...]:
    if not told:
        return USUAL_CONCURRENCY
    numbers = _numbers(",".join(told))
    return tuple(sorted({_positive(int(number)) for number in numbers}))


def _positive(number: int) -> int:
    if number < 1:
        raise PlanningError("A concurrency must be at least 1.")
    return number


def _numbers(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        raise PlanningError(
            f"{text!r} is not a list of numbers; write them like 0.8,0.6,0.4."
        ) from None


def _summary(found: SpeedPrediction) -> str:
    lines = [f"Tokens per step: {found.expected_tokens_per_step:.2f}", found.sentence]
    for point in found.curve:
        if point.speedup is None:
            lines.append(f"  {point.concurrency:5} no data")
            continue
        band = (
            f"{point.low:.2f} to {point.high:.2f}" if point.low and point.high else ""
        )
        lines.append(
            f"  {point.concurrency:5} {point.speedup:.2f}x  {band or 'no band: not measured'}  "
            f"{point.bound} bound, best num_speculative_tokens "
            f"{point.best_num_speculative_tokens}"
        )
    if found.seed_formula is not None:
        lines.append(
            f"Rule of thumb: {found.seed_formula:.2f} (leaves out the bonus token)"
        )
    return "\n".join([*lines, found.source, *found.warnings])

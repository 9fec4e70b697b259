"""The speculation calculator: memory and speed of a model on a platform, without a deployment."""

from dataclasses import dataclass

from deployments.planning.catalog import Checkpoint, Drafter, TargetModel
from deployments.planning.errors import PlanningError
from deployments.planning.expectation import (
    USUAL_QUANTISATION,
    accelerator_of,
    drafter_shape,
)
from deployments.planning.methods import FACTS, Method
from deployments.planning.plan import Plan, Role, RoleMemory
from deployments.planning.planner import make_plan
from deployments.planning.platforms.devices import DEVICES_PER_HOST, device_memory
from deployments.planning.revision import (
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
    Workload,
)
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from deployments.planning.speedup.acceptance import (
    Acceptance,
    Origin,
    from_mean_length,
    from_positions,
    from_rate,
)
from deployments.planning.speedup.benefit import CountBenefit
from deployments.planning.speedup.prediction import (
    USUAL_CONCURRENCY,
    Question,
    SpeedPrediction,
    benefit_by_count,
    predict,
)
from deployments.planning.speedup.priors import assumed_acceptance
from deployments.planning.speedup.shape import shape_of_model
from deployments.planning.speedup.step_time import Serving, weight_bytes
from deployments.planning.text import Text, text

DRAWN_CONCURRENCY = (*USUAL_CONCURRENCY, 128, 256)
_GIVEN = Origin(kind="given", source=text("as entered"))
_CLOSED = "METHOD_CLOSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAcceptance:
    """Acceptance as somebody measured it, in one of three ways; all ``None`` or empty is unknown."""

    rate: float | None = None
    mean_length: float | None = None
    positions: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What is calculated. ``None`` leaves a value to the planner.

    ``devices`` is the number of devices of one instance on all its hosts together. ``device`` is
    its name, such as ``H100``, ``device_bytes`` the memory of one where the name does not tell.
    """

    model: TargetModel
    platform: str
    devices: int
    method: Method
    workload: Workload
    checkpoint: str | None = None
    device: str | None = None
    device_bytes: int | None = None
    data_parallel_size: int | None = None
    engine: str | None = None
    max_model_len: int | None = None
    num_speculative_tokens: int | None = None
    acceptance: GivenAcceptance = GivenAcceptance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """The answer; what is unknown is ``None``.

    ``memory`` is that of a device, ``memory_refusal`` why there is none. ``prediction`` needs the
    model's size; ``counts`` is the benefit of each num_speculative_tokens at the workload's
    concurrency. ``closed`` says why the planner would not take the method here.
    """

    count: int
    quantisation: str
    devices: int
    data_parallel_size: int
    memory: RoleMemory | None
    memory_refusal: Text | None
    prediction: SpeedPrediction | None
    counts: tuple[CountBenefit, ...]
    closed: Text | None
    plan: Plan | None


def calculate(inquiry: Inquiry) -> Calculation:
    """Answer an inquiry.

    Raises:
        PlanningError: the acceptance is impossible.
    """
    plan, refusal = _planned(inquiry)
    memory = plan.memory[-1] if plan is not None and plan.memory else None
    count = inquiry.num_speculative_tokens or _count(plan, inquiry.method)
    checkpoint = _checkpoint(inquiry, plan)
    data_parallel = inquiry.data_parallel_size or 1
    devices = inquiry.devices
    if memory is not None:
        data_parallel = memory.data_parallel_size
        devices = memory.tensor_parallel_size * data_parallel
    quantisation = (checkpoint and checkpoint.quantisation) or USUAL_QUANTISATION
    question = _question(
        inquiry,
        Serving(
            accelerator=accelerator_of(_hosts(inquiry)[0]),
            devices=devices,
            data_parallel=data_parallel,
            quantisation=quantisation,
            context_tokens=inquiry.workload.input_tokens
            + inquiry.workload.output_tokens / 2,
            prompt_tokens=inquiry.workload.input_tokens,
            output_tokens=inquiry.workload.output_tokens,
        ),
        count,
    )
    asked = inquiry.workload.concurrency
    return Calculation(
        count=count,
        quantisation=quantisation,
        devices=devices,
        data_parallel_size=data_parallel,
        memory=memory,
        memory_refusal=refusal,
        prediction=predict(question) if question else None,
        counts=benefit_by_count(question, asked) if question else (),
        closed=_closed(plan),
        plan=plan,
    )


def host_count(inquiry: Inquiry) -> int:
    """Return how many hosts the devices fill."""
    return max(1, -(-inquiry.devices // (DEVICES_PER_HOST[inquiry.platform] or 1)))


def _hosts(inquiry: Inquiry) -> tuple[HostSnapshot, ...]:
    memory = inquiry.device_bytes or device_memory(inquiry.platform, inquiry.device)
    count = host_count(inquiry)
    return tuple(
        HostSnapshot(
            name=f"host-{rank}",
            platform=inquiry.platform,
            device=inquiry.device,
            device_count=max(
                DEVICES_PER_HOST[inquiry.platform], inquiry.devices // count
            ),
            device_memory_bytes=memory,
        )
        for rank in range(1, count + 1)
    )


def _planned(inquiry: Inquiry) -> tuple[Plan | None, Text | None]:
    """The plan that this would be, or the planner's sentence why there is none."""
    hosts = _hosts(inquiry)
    if inquiry.devices % len(hosts):
        return None, text(
            "{devices} devices do not spread evenly over {hosts} hosts; take a multiple of {hosts}.",
            devices=inquiry.devices,
            hosts=len(hosts),
        )
    data_parallel = inquiry.data_parallel_size
    if data_parallel is not None and inquiry.devices % data_parallel:
        return None, text(
            "{devices} devices do not divide into {ranks} data parallel ranks.",
            devices=inquiry.devices,
            ranks=data_parallel,
        )
    spec = RevisionSpec(
        name="calculation",
        model=inquiry.model.key,
        checkpoint=inquiry.checkpoint,
        engine=inquiry.engine,
        roles=(
            RoleSpec(
                role=Role.COMBINED,
                hosts=tuple(host.name for host in hosts),
                devices_per_host=inquiry.devices // len(hosts) or None,
                data_parallel_size=data_parallel,
                tensor_parallel_size=inquiry.devices // data_parallel
                if data_parallel
                else None,
            ),
        ),
        speculation=SpeculationChoice(
            method=inquiry.method.value,
            num_speculative_tokens=inquiry.num_speculative_tokens,
        ),
        workload=inquiry.workload,
        limits=Limits(max_model_len=inquiry.max_model_len),
    )
    settings = ClusterSettings(files_only=True)
    try:
        return make_plan(spec, inquiry.model, hosts, settings), None
    except PlanningError as error:
        return None, error.text


def _count(plan: Plan | None, method: Method) -> int:
    gain = plan.gain if plan is not None else None
    if gain is not None and gain.method == method.value:
        return gain.num_speculative_tokens
    return FACTS[method].default_count


def _checkpoint(inquiry: Inquiry, plan: Plan | None) -> Checkpoint | None:
    key = plan.checkpoint if plan is not None else inquiry.checkpoint
    named = (one for one in inquiry.model.checkpoints if one.key == key)
    here = (
        one for one in inquiry.model.checkpoints if inquiry.platform in one.platforms
    )
    return next(named, None) or next(here, None)


def _question(inquiry: Inquiry, serving: Serving, count: int) -> Question | None:
    shape = shape_of_model(inquiry.model)
    if shape is None or weight_bytes(serving.quantisation) is None:
        return None
    asked = inquiry.workload.concurrency
    return Question(
        shape=shape,
        serving=serving,
        method=inquiry.method,
        acceptance=_acceptance(inquiry, count),
        num_speculative_tokens=count,
        concurrency=tuple(sorted({*DRAWN_CONCURRENCY, asked})),
        drafter=drafter_shape(inquiry.method, _drafter(inquiry)),
    )


def _drafter(inquiry: Inquiry) -> Drafter | None:
    fitting = (one for one in inquiry.model.drafters if one.method is inquiry.method)
    return next(fitting, None)


def _acceptance(inquiry: Inquiry, count: int) -> Acceptance:
    given, method = inquiry.acceptance, inquiry.method
    if given.positions:
        return from_positions(given.positions, method=method, origin=_GIVEN)
    if given.mean_length is not None:
        return from_mean_length(given.mean_length, count, method=method, origin=_GIVEN)
    if given.rate is not None:
        return from_rate(given.rate, count, method=method, origin=_GIVEN)
    return assumed_acceptance(method)


def _closed(plan: Plan | None) -> Text | None:
    findings = plan.findings if plan is not None else ()
    return next((one.message for one in findings if one.code == _CLOSED), None)

"""What drafting costs: passes, weights read in each, and the fixed times of each method."""

from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.methods import Method
from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.shape import ModelShape
from deployments.planning.speedup.step_time import Machine, Serving, step_time

_EAGLE3_VOCABULARY = 32_000
_REDUCED_SHARE = 0.25
_UNKNOWN_DRAFTER_SHARE = 0.05


class DrafterKind(StrEnum):
    """How a method drafts, as far as its cost is concerned."""

    EAGLE3 = "eagle3"
    EAGLE = "eagle"
    REDUCED_EAGLE = "reduced_eagle"
    MTP = "mtp"
    PARALLEL = "parallel"
    DRAFT_MODEL = "draft_model"
    HEADS = "heads"
    LOOKUP = "lookup"
    LOOKUP_ON_DEVICE = "lookup_on_device"


_KINDS = {
    Method.MTP: DrafterKind.MTP,
    Method.EAGLE3: DrafterKind.EAGLE3,
    Method.EAGLE: DrafterKind.EAGLE,
    Method.DFLASH: DrafterKind.PARALLEL,
    Method.DSPARK: DrafterKind.PARALLEL,
    Method.DRAFT_MODEL: DrafterKind.DRAFT_MODEL,
    Method.SUFFIX: DrafterKind.LOOKUP,
    Method.NGRAM: DrafterKind.LOOKUP,
    Method.NGRAM_GPU: DrafterKind.LOOKUP_ON_DEVICE,
    Method.MEDUSA: DrafterKind.HEADS,
    Method.MLP_SPECULATOR: DrafterKind.HEADS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """One way to draft. ``drafter`` is a draft model's own shape, ``None`` when unknown or not one.

    ``parallel_layers`` are the layers of a drafter that makes all tokens in one pass.
    """

    kind: DrafterKind
    drafter: ModelShape | None = None
    parallel_layers: int = 5

    @property
    def looks_up(self) -> bool:
        """Whether text is looked up, so that fewer tokens than asked may be drafted."""
        return self.kind in (DrafterKind.LOOKUP, DrafterKind.LOOKUP_ON_DEVICE)


def drafting_of(method: Method, drafter: ModelShape | None = None) -> Drafting:
    """Return how a method drafts."""
    return Drafting(kind=_KINDS[method], drafter=drafter)


def draft_ms(
    drafting: Drafting,
    shape: ModelShape,
    serving: Serving,
    rates: Machine,
    constants: Constants,
    sequences: int,
    count: int,
) -> float:
    """Return the time in which a step's tokens are drafted, without verification.

    A pass takes sqrt(device^2 + launch^2): launching overlaps with the device's own work.
    """
    if drafting.kind is DrafterKind.LOOKUP:
        return constants.unhidden_host_ms
    if drafting.kind is DrafterKind.LOOKUP_ON_DEVICE:
        return constants.launch_ms
    eager = serving.early_engine or serving.eager_drafter
    launch = constants.early_launch_ms if eager else constants.launch_ms
    if drafting.kind is DrafterKind.DRAFT_MODEL:
        return count * _draft_model_ms(
            drafting, shape, serving, rates, constants, sequences, launch
        )
    parallel = drafting.kind in (DrafterKind.PARALLEL, DrafterKind.HEADS)
    layers = drafting.parallel_layers if drafting.kind is DrafterKind.PARALLEL else 1
    parameters = _parameters(drafting, shape, count)
    routed = _routed(drafting, shape, sequences)
    own_weights = drafting.kind is not DrafterKind.MTP
    read = (parameters * serving.data_parallel + routed) * (
        2.0 if own_weights else rates.weight_bytes
    )
    parameters += routed
    tokens = sequences * (count if drafting.kind is DrafterKind.PARALLEL else 1)
    memory = read / (serving.devices * rates.bytes_per_ms)
    compute = 2 * tokens * parameters / (serving.devices * rates.bf16_operations_per_ms)
    on_device = (memory * memory + compute * compute) ** 0.5
    on_device += layers * constants.layer_ms
    if serving.devices > 1:
        on_device += 2 * constants.collective_ms
    one = (on_device * on_device + launch * launch) ** 0.5
    extra = constants.parallel_ms if drafting.kind is DrafterKind.PARALLEL else 0.0
    return (1 if parallel else count) * one + extra


def _draft_model_ms(
    drafting: Drafting,
    shape: ModelShape,
    serving: Serving,
    rates: Machine,
    constants: Constants,
    sequences: int,
    launch: float,
) -> float:
    if drafting.drafter is not None:
        own = step_time(drafting.drafter, serving, rates, constants, sequences, 1)
    else:
        own = step_time(shape, serving, rates, constants, sequences, 1)
    share = 1.0 if drafting.drafter is not None else _UNKNOWN_DRAFTER_SHARE
    return ((share * own.total_ms) ** 2 + launch * launch) ** 0.5


def _parameters(drafting: Drafting, shape: ModelShape, count: int) -> float:
    """Parameters that one draft pass reads, by the published forms of the drafters."""
    width, vocabulary = shape.hidden_size, shape.vocabulary_size
    square, head = float(width * width), float(width * vocabulary)
    layer = 2.5 * square + 3 * square * (2.5 if shape.mixture else 3.5)
    match drafting.kind:
        case DrafterKind.EAGLE3:
            return 4.25 * square + layer + _EAGLE3_VOCABULARY * width
        case DrafterKind.EAGLE:
            return 2 * square + layer + head
        case DrafterKind.REDUCED_EAGLE:
            return 2 * square + layer + _REDUCED_SHARE * head
        case DrafterKind.PARALLEL:
            return drafting.parallel_layers * layer + head
        case DrafterKind.HEADS:
            return count * (square + head)
        case _:
            dense = max(shape.dense_parameters - head, 0.0) / shape.layers
            return 2 * square + dense + head


def _routed(drafting: Drafting, shape: ModelShape, sequences: int) -> float:
    """Parameters of the routed experts that an MTP layer reads; other drafters are dense."""
    if drafting.kind is not DrafterKind.MTP:
        return 0.0
    touched = shape.expert_parameters * shape.experts_share(sequences)
    return touched / shape.layers

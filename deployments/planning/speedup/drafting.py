"""What drafting costs: passes, weights read in each, and the fixed times of each method."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from deployments.planning.methods import Method
from deployments.planning.speedup.shape import ModelShape
from deployments.planning.speedup.step_time import Roofline

_EAGLE3_VOCABULARY = 32_000
_REDUCED_SHARE = 0.25
_DRAFTER_BYTES = 2.0
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


def draft_ms(drafting: Drafting, target: Roofline, sequences: int, count: int) -> float:
    """Return the time in which a step's tokens are drafted, without verification.

    A pass takes sqrt(device^2 + launch^2): launching overlaps with the device's own work.
    """
    constants = target.constants
    match drafting.kind:
        case DrafterKind.LOOKUP:
            return constants.unhidden_host_ms
        case DrafterKind.LOOKUP_ON_DEVICE:
            return constants.launch_ms
        case DrafterKind.PARALLEL:
            one = _pass_ms(drafting, target, sequences, count)
            return one + constants.parallel_ms
        case DrafterKind.HEADS:
            return _pass_ms(drafting, target, sequences, count)
        case DrafterKind.DRAFT_MODEL:
            return count * _draft_model_ms(drafting, target, sequences)
        case _:
            return count * _pass_ms(drafting, target, sequences, count)


def _pass_ms(drafting: Drafting, target: Roofline, sequences: int, count: int) -> float:
    rates, serving, constants = target.rates, target.serving, target.constants
    dense = _parameters(drafting, target.shape, count)
    routed = _routed(drafting, target.shape, sequences)
    like_target = drafting.kind is DrafterKind.MTP
    size = rates.weight_bytes if like_target else _DRAFTER_BYTES
    memory = (dense * serving.data_parallel + routed) * size
    memory /= serving.devices * rates.bytes_per_ms
    in_one_pass = drafting.kind is DrafterKind.PARALLEL
    tokens = sequences * (count if in_one_pass else 1)
    compute = 2 * tokens * (dense + routed)
    compute /= serving.devices * rates.bf16_operations_per_ms
    layers = drafting.parallel_layers if in_one_pass else 1
    on_device = math.hypot(memory, compute) + layers * constants.layer_ms
    if serving.devices > 1:
        on_device += 2 * constants.collective_ms
    return math.hypot(on_device, _launch_ms(target))


def _draft_model_ms(drafting: Drafting, target: Roofline, sequences: int) -> float:
    if drafting.drafter is None:
        own = _UNKNOWN_DRAFTER_SHARE * target.step(sequences, 1).total_ms
    else:
        own = replace(target, shape=drafting.drafter).step(sequences, 1).total_ms
    return math.hypot(own, _launch_ms(target))


def _launch_ms(target: Roofline) -> float:
    serving, constants = target.serving, target.constants
    uncaptured = serving.early_engine or serving.eager_drafter
    return constants.early_launch_ms if uncaptured else constants.launch_ms


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

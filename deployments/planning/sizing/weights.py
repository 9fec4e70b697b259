"""Weights on the fullest device: target model by quantisation and layout, and what drafts for it."""

import math

from deployments.planning.catalog import Checkpoint
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Basis, MemoryPart
from deployments.planning.sizing.counting import parameter_count
from deployments.planning.sizing.geometry import Geometry, geometry_of_name
from deployments.planning.sizing.quantisation import (
    FOUR_BIT_EXPERT,
    UNQUANTISED,
    WeightSizes,
    weight_sizes,
)
from deployments.planning.sizing.question import Question
from deployments.planning.text import Text, text

PARALLEL_LAYERS = 5
_EAGLE3_VOCABULARY = 32_000
_MOST_HEADS = 5


def target_part(question: Question) -> MemoryPart:
    """Return what the target model's weights take of the fullest device."""
    whole_stages = _spread(question)
    geometry, checkpoint = question.geometry, question.checkpoint
    spread = whole_stages and whole_stages / question.pipeline_parallel_size
    if spread is None:
        return _part(
            "weights", None, Basis.UNKNOWN, text("the model's size is not known")
        )
    if checkpoint.size_bytes is not None:
        whole = checkpoint_bytes(geometry, checkpoint)
        scale = checkpoint.size_bytes / whole if whole else 1.0
        return _part("weights", spread * scale, Basis.KNOWN, checkpoint.source)
    said = text(
        "{parameters} parameters in {quantisation}; geometry: {source}",
        parameters=parameter_count(geometry.parameters or 0),
        quantisation=checkpoint.quantisation or "bf16",
        source=geometry.source,
    )
    basis = Basis.DERIVED if geometry.checked else Basis.ASSUMED
    return _part("weights", spread, basis, said)


def drafter_part(question: Question) -> MemoryPart:
    """Return what drafts take of the fullest device: MTP layers, a head or a whole draft model."""
    method = question.method
    if method is None or FACTS[method].need in (Need.NOTHING, Need.PACKAGE):
        return _part("drafter", 0, Basis.KNOWN, text("nothing is loaded to draft"))
    if method is Method.MTP:
        return _mtp_part(question)
    drafter, parallel = question.drafter, question.draft_tensor_parallel_size
    where = text(
        "on {devices} devices of a rank (draft tensor parallel size)", devices=parallel
    )
    if drafter is not None and drafter.size_bytes is not None:
        size = drafter.size_bytes / parallel
        said = text("{source}, {where}", source=drafter.source, where=where)
        return _part("drafter", size, Basis.KNOWN, said)
    parameters = _drafter_parameters(question, method)
    if parameters is None:
        return _part(
            "drafter", None, Basis.UNKNOWN, text("the drafter's size is not known")
        )
    said = text(
        "{parameters} parameters in two bytes by the usual form of {method}, {where}",
        parameters=parameter_count(parameters),
        method=FACTS[method].title,
        where=where,
    )
    size = parameters * UNQUANTISED / parallel
    return _part("drafter", size, Basis.ASSUMED, said)


def checkpoint_bytes(geometry: Geometry, checkpoint: Checkpoint) -> float | None:
    """Return the bytes of all weights of the target model together, MTP layers left out."""
    sizes = _sizes(geometry, checkpoint)
    if sizes is None or geometry.parameters is None:
        return None
    routed = geometry.routed_parameters
    if routed is None:
        return geometry.parameters * sizes.routed
    embedding = geometry.embedding_parameters or 0
    body = max(geometry.parameters - routed - embedding, 0)
    layer = sizes.body if geometry.mixture else sizes.alone
    return routed * sizes.routed + body * layer + embedding * sizes.embedding


def _spread(question: Question) -> float | None:
    geometry = question.geometry
    sizes = _sizes(geometry, question.checkpoint)
    if sizes is None or geometry.parameters is None:
        return None
    tensor = question.tensor_parallel_size
    routed = geometry.routed_parameters
    if routed is None:
        # Which part are experts is unknown: without data parallel ranks all of it is cut alike.
        known = question.data_parallel_size == 1
        return geometry.parameters * sizes.routed / tensor if known else None
    embedding = geometry.embedding_parameters or 0
    body = max(geometry.parameters - routed - embedding, 0)
    layer = sizes.body if geometry.mixture else sizes.alone
    return (
        routed * sizes.routed * _expert_share(question)
        + (body * layer + embedding * sizes.embedding) / tensor
    )


def _sizes(geometry: Geometry, checkpoint: Checkpoint) -> WeightSizes | None:
    name = checkpoint.quantisation or "bf16"
    sizes = weight_sizes(name)
    if sizes is None or not (geometry.four_bit_experts and name.startswith("fp8")):
        return sizes
    return WeightSizes(routed=FOUR_BIT_EXPERT, body=sizes.body, alone=sizes.alone)


def _expert_share(question: Question) -> float:
    """Whole experts to a device with expert parallelism, else an even part of each."""
    experts = question.geometry.experts
    if question.expert_parallel and experts:
        return math.ceil(experts / question.devices) / experts
    return 1 / question.devices


def _mtp_part(question: Question) -> MemoryPart:
    geometry = question.geometry
    sizes = _sizes(geometry, question.checkpoint)
    routed, embedding = geometry.routed_parameters, geometry.embedding_parameters
    hidden, layers = geometry.hidden_size, geometry.layers
    if (
        sizes is None
        or geometry.parameters is None
        or routed is None
        or embedding is None
        or not hidden
        or not layers
    ):
        return _part(
            "drafter", None, Basis.UNKNOWN, text("the MTP layers' size is not known")
        )
    count = question.mtp_layers or 1
    body = max(geometry.parameters - routed - embedding, 0) // layers + 2 * hidden**2
    experts = routed // (geometry.expert_layers or layers) if routed else 0
    layer = sizes.body if geometry.mixture else sizes.alone
    routed_size = sizes.routed
    if question.unquantised_mtp:
        layer = routed_size = UNQUANTISED
    size = experts * routed_size * _expert_share(question)
    size += body * layer / question.tensor_parallel_size
    said = text(
        "{layers} MTP layers, each like a layer of the target; embeddings are shared",
        layers=count,
    )
    told = question.mtp_layers is not None and geometry.checked
    return _part(
        "drafter", count * size, Basis.DERIVED if told else Basis.ASSUMED, said
    )


def _drafter_parameters(question: Question, method: Method) -> int | None:
    geometry = question.geometry
    if method is Method.DRAFT_MODEL:
        drafter = question.drafter
        own = geometry_of_name(drafter.repository) if drafter else None
        return own.parameters if own else None
    width, vocabulary = geometry.hidden_size, geometry.vocabulary_size
    if not width or not vocabulary:
        return None
    return _form(geometry, method, width, vocabulary)


def _form(geometry: Geometry, method: Method, width: int, vocabulary: int) -> int:
    """Parameters by the published forms: attention and a feed-forward layer in multiples of width^2."""
    square = width * width
    layer = square * 10 if geometry.mixture else square * 13
    head = width * vocabulary
    if method is Method.EAGLE3:
        return square * 17 // 4 + layer + _EAGLE3_VOCABULARY * width
    if method is Method.EAGLE:
        return 2 * square + layer + head
    if method in (Method.MEDUSA, Method.MLP_SPECULATOR):
        return _MOST_HEADS * (square + head)
    return PARALLEL_LAYERS * layer + head


def _part(
    kind: str, size: float | None, basis: Basis, source: Text | str
) -> MemoryPart:
    return MemoryPart(
        kind=kind,
        size_bytes=None if size is None else round(size),
        basis=basis,
        source=source,
    )

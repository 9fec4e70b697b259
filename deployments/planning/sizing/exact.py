"""Weights on the fullest device from the sizes of tensors that were read on a host."""

import math

from deployments.planning.methods import Method
from deployments.planning.plan import Basis, MemoryPart
from deployments.planning.sizing.question import Question


def exact_target_part(question: Question) -> MemoryPart | None:
    """The target model's weights, ``None`` where nobody read the files.

    Routed experts spread over all devices of a stage, everything else over those of a rank.
    """
    read = question.read
    if read is None or not _known_experts(question):
        return None
    sizes = read.sizes
    rest = sizes.total - sizes.mtp - sizes.experts
    stage = sizes.experts * _expert_share(question)
    stage += rest / question.tensor_parallel_size
    return MemoryPart(
        kind="weights",
        size_bytes=round(stage / question.pipeline_parallel_size),
        basis=Basis.KNOWN,
        source=read.source,
    )


def exact_mtp_part(question: Question) -> MemoryPart | None:
    """The MTP layers, ``None`` where nobody read the files or the method is another.

    The engine shares embeddings and output head with the target (vLLM 0.32.0, the MTP proposer).
    """
    read, drafter = question.read, question.drafter
    apart = drafter is not None and not drafter.inside_checkpoint
    if read is None or question.method is not Method.MTP or apart:
        return None
    sizes = read.sizes
    if not sizes.mtp or not _known_experts(question):
        return None
    rest = sizes.mtp - sizes.mtp_experts - sizes.mtp_embeddings
    share = sizes.mtp_experts * _expert_share(question)
    return MemoryPart(
        kind="drafter",
        size_bytes=round(share + rest / question.tensor_parallel_size),
        basis=Basis.KNOWN,
        source=read.source,
    )


def _known_experts(question: Question) -> bool:
    """Whether the tensors' names tell experts apart as the model has them."""
    read = question.read
    return read is not None and bool(read.sizes.experts) is bool(
        question.geometry.experts
    )


def _expert_share(question: Question) -> float:
    """Whole experts to a device with expert parallelism, else an even part of each."""
    experts = question.geometry.experts
    if question.expert_parallel and experts:
        return math.ceil(experts / question.devices) / experts
    return 1 / question.devices

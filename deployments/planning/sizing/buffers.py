"""What the engine takes besides weights and cache: verification, activations, graphs, runtime."""

from deployments.planning.plan import Basis, MemoryPart
from deployments.planning.sizing.question import Question
from deployments.planning.text import text

MIB = 1 << 20
_LOGIT_BYTES = 8
_VALUE_BYTES = 2
_RESIDUALS = 6
_DENSE_WIDTHS = 10
_RUNTIME_MIB, _NCCL_MIB, _ASCEND_RUNTIME_MIB = 450, 600, 700
_GRAPH_MIB, _DRAFT_GRAPH_MIB = 1000, 200


def buffer_parts(question: Question) -> tuple[MemoryPart, ...]:
    """Return the parts beside weights, drafter and cache, in the order of a memory bar."""
    return (
        _verification(question),
        _activations(question),
        _graphs(question),
        _reserve(question),
    )


def _verification(question: Question) -> MemoryPart:
    """Logits of every sequence's k+1 positions over the vocabulary, as scores and as probabilities."""
    vocabulary = question.geometry.vocabulary_size
    size = None
    if vocabulary is not None:
        size = (question.count + 1) * question.sequences * vocabulary * _LOGIT_BYTES
    return MemoryPart(
        kind="verification",
        size_bytes=size,
        basis=Basis.UNKNOWN if size is None else Basis.DERIVED,
        source=text(
            "{step} positions x {sequences} sequences x vocabulary, scores and probabilities in "
            "four bytes each",
            step=question.count + 1,
            sequences=question.sequences,
        ),
    )


def _activations(question: Question) -> MemoryPart:
    """Peak of one step over max_num_batched_tokens: residuals, and the widest feed-forward layer."""
    hidden, tensor = question.geometry.hidden_size, question.tensor_parallel_size
    size = None
    if hidden is not None:
        active = question.geometry.active_experts or 8
        wide = 2 * active if question.geometry.mixture else _DENSE_WIDTHS
        widths = _RESIDUALS + wide / tensor
        size = round(question.batched_tokens * hidden * _VALUE_BYTES * widths)
    return MemoryPart(
        kind="activations",
        size_bytes=size,
        basis=Basis.UNKNOWN if size is None else Basis.ASSUMED,
        source=text(
            "a step of {tokens} tokens at its widest", tokens=question.batched_tokens
        ),
    )


def _graphs(question: Question) -> MemoryPart:
    size = _GRAPH_MIB + (_DRAFT_GRAPH_MIB if question.count else 0)
    return MemoryPart(
        kind="graphs",
        size_bytes=size * MIB if question.captures else 0,
        basis=Basis.ASSUMED if question.captures else Basis.KNOWN,
        source=text("captured graphs take 0.3 to 3 GiB in published start-up logs")
        if question.captures
        else text("enforce_eager captures none"),
    )


def _reserve(question: Question) -> MemoryPart:
    """Runtime context and collectives; HCCL holds a send and a receive buffer to each group."""
    if question.ascend:
        groups = (question.tensor_parallel_size > 1) + (question.data_parallel_size > 1)
        size = _ASCEND_RUNTIME_MIB + 2 * question.hccl_mib * groups
        said = text(
            "runtime, and {groups} HCCL groups with two buffers of {size} MiB each",
            groups=groups,
            size=question.hccl_mib,
        )
    else:
        size = _RUNTIME_MIB + (_NCCL_MIB if question.devices > 1 else 0)
        said = text("runtime and collectives, after published start-up logs")
    return MemoryPart(
        kind="reserve", size_bytes=size * MIB, basis=Basis.ASSUMED, source=said
    )

"""The memory of one role: parts, what is left for the KV cache, and what that serves."""

from deployments.planning.plan import MemoryPart, RoleMemory
from deployments.planning.sizing.buffers import buffer_parts
from deployments.planning.sizing.cache import Cache, cache_of
from deployments.planning.sizing.documented import shortfall
from deployments.planning.sizing.exact import exact_mtp_part, exact_target_part
from deployments.planning.sizing.question import Question
from deployments.planning.sizing.weights import drafter_part, target_part

THOUSAND = 1000


def role_memory(question: Question, platform: str) -> RoleMemory:
    """Size the fullest device of a role; what cannot be known stays ``None``."""
    parts = (
        exact_target_part(question) or target_part(question),
        exact_mtp_part(question) or drafter_part(question),
        *buffer_parts(question),
    )
    cache = cache_of(question)
    device = question.device_bytes
    budget = device * question.share // THOUSAND if device is not None else None
    left = _left(budget, parts)
    documented = shortfall(
        question.checkpoint,
        platform,
        question.devices * question.pipeline_parallel_size,
        question.launched_devices,
        _spread_bytes(question),
    )
    wanted = cache.sequence(question.sequence_tokens, question)
    longest = cache.sequence(
        question.context_length or question.sequence_tokens, question
    )
    fits = _fits(budget, parts, left, longest)
    return RoleMemory(
        role=question.role,
        tensor_parallel_size=question.tensor_parallel_size,
        data_parallel_size=question.data_parallel_size,
        device_bytes=device,
        budget_bytes=budget,
        parts=parts,
        kv_bytes=left,
        kv_bytes_per_token=_whole(cache.token_bytes),
        state_bytes_per_sequence=None
        if cache.token_bytes is None
        else cache.sequence_bytes,
        kv_basis=cache.basis,
        kv_source=cache.source,
        kv_tokens=_tokens(question, cache, left),
        sequence_tokens=question.sequence_tokens,
        sequences=_sequences(question, left, wanted),
        sequences_wanted=question.sequences_wanted,
        max_model_len=question.context_length,
        largest_context=_largest_context(question, cache, left),
        headroom_bytes=None
        if left is None or wanted is None or longest is None
        else left - max(longest, wanted * question.sequences_wanted),
        fits=False if documented is not None else fits,
        documented=documented,
    )


def _spread_bytes(question: Question) -> int | None:
    """Memory over which the weights spread: copies of a dense model share nothing."""
    if question.device_bytes is None:
        return None
    alone = not question.geometry.mixture and not question.expert_parallel
    devices = question.tensor_parallel_size if alone else question.devices
    return question.device_bytes * devices * question.pipeline_parallel_size


def _left(budget: int | None, parts: tuple[MemoryPart, ...]) -> int | None:
    if budget is None:
        return None
    sizes = [part.size_bytes for part in parts]
    known = [size for size in sizes if size is not None]
    return budget - sum(known) if len(known) == len(sizes) else None


def _fits(
    budget: int | None,
    parts: tuple[MemoryPart, ...],
    left: int | None,
    longest: int | None,
) -> bool | None:
    if budget is None:
        return None
    if sum(part.size_bytes or 0 for part in parts) > budget:
        return False
    if left is None or longest is None:
        return None
    return left >= longest


def _tokens(question: Question, cache: Cache, left: int | None) -> int | None:
    if left is None or not cache.token_bytes:
        return None
    states = cache.sequence_bytes * question.sequences_wanted
    return max(0, int((left - states) / cache.token_bytes))


def _sequences(question: Question, left: int | None, wanted: int | None) -> int | None:
    if left is None or not wanted:
        return None
    return max(0, min(question.sequences, left // wanted))


def _largest_context(question: Question, cache: Cache, left: int | None) -> int | None:
    if left is None or not cache.token_bytes:
        return None
    block = question.block_tokens
    held = max(0, int((left - cache.sequence_bytes) / cache.token_bytes))
    tokens = max(0, held // block * block - question.count)
    return min(tokens, question.context_limit or tokens)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)

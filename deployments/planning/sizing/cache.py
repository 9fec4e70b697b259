"""KV cache of the fullest device: bytes to a token and to a sequence, by kind of attention."""

import math
from dataclasses import dataclass

from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Basis
from deployments.planning.sizing.geometry import Geometry, geometry_of_name
from deployments.planning.sizing.question import Question
from deployments.planning.sizing.weights import PARALLEL_LAYERS
from deployments.planning.text import Text, text

_STATE_BYTES = 4
_CONVOLUTION_BYTES = 2
_USUAL_HEADS, _USUAL_HEAD_DIM = 8, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """``token_bytes`` grow with the context, ``sequence_bytes`` do not; ``None`` is unknown."""

    token_bytes: float | None
    sequence_bytes: int
    basis: Basis
    source: Text

    def sequence(self, tokens: int, question: Question) -> int | None:
        """Return the bytes of one sequence of so many tokens, in whole blocks with its drafts."""
        if self.token_bytes is None:
            return None
        block = question.block_tokens
        held = -(-(tokens + question.count) // block) * block
        return math.ceil(held * self.token_bytes) + self.sequence_bytes


def cache_of(question: Question) -> Cache:
    """Return the cache of target and drafter together."""
    geometry = question.geometry
    target = _target_token_bytes(geometry, question)
    drafts = _drafter_token_bytes(question, target)
    if target is None or drafts is None:
        return Cache(
            token_bytes=None,
            sequence_bytes=0,
            basis=Basis.UNKNOWN,
            source=text("layers, heads or kind of attention are not known"),
        )
    own, assumed = drafts
    basis = Basis.DERIVED if geometry.checked and not assumed else Basis.ASSUMED
    return Cache(
        token_bytes=(target / question.pipeline_parallel_size + own)
        / question.context_parallel_size,
        sequence_bytes=math.ceil(
            _sequence_bytes(geometry, question) / question.pipeline_parallel_size
        ),
        basis=basis,
        source=text("{kind}; {source}", kind=_kind(geometry), source=geometry.source),
    )


def _target_token_bytes(geometry: Geometry, question: Question) -> float | None:
    layers = geometry.layers
    if not geometry.cache_known or not layers:
        return None
    cached = geometry.kv_layers or layers
    if geometry.compressed:
        return _compressed_token_bytes(geometry, question)
    if geometry.latent_width is not None:
        latent = cached * geometry.latent_width * question.cache_bytes
        return latent + _indexer_token_bytes(geometry, question, cached)
    if geometry.kv_heads is None or geometry.head_dim is None:
        return None
    heads = _heads_bytes(geometry.kv_heads, geometry.head_dim, question)
    return cached * heads + _indexer_token_bytes(geometry, question, cached)


def _indexer_token_bytes(geometry: Geometry, question: Question, layers: int) -> float:
    """What sparse attention caches besides; shared choices spare layers in vLLM.

    Whether vllm-ascend leaves the shared layers' caches out is not known; there, all are counted.
    """
    own = geometry.indexer_layers
    indexed = layers if own is None or question.ascend else own
    return indexed * (geometry.indexer_width or 0) * question.indexer_bytes


def _heads_bytes(heads: int, head_dim: int, question: Question) -> float:
    """Key and value of one layer; a head is on one device, and below one a device it is repeated."""
    own = max(1, math.ceil(heads / question.tensor_parallel_size))
    return 2 * own * head_dim * question.cache_bytes


def _compressed_token_bytes(geometry: Geometry, question: Question) -> float | None:
    """One entry to several tokens; layers that compress least carry the index as well."""
    if geometry.head_dim is None:
        return None
    least = min(ratio for ratio, _layers in geometry.compressed)
    indexer = (geometry.indexer_width or 0) * question.indexer_bytes
    total = 0.0
    for ratio, layers in geometry.compressed:
        entry = geometry.head_dim * question.cache_bytes
        total += layers * (entry + (indexer if ratio == least else 0)) / ratio
    return total


def _sequence_bytes(geometry: Geometry, question: Question) -> int:
    """State of linear attention, kept for every draft position, and the window's last tokens."""
    total = 0.0
    linear = geometry.linear
    if linear is not None:
        tensor = question.tensor_parallel_size
        value_heads = max(1, math.ceil(linear.value_heads / tensor))
        key_heads = max(1, math.ceil(linear.key_heads / tensor))
        state = value_heads * linear.head_dim**2 * _STATE_BYTES
        channels = (2 * key_heads + value_heads) * linear.head_dim
        state += channels * (linear.convolution - 1) * _CONVOLUTION_BYTES
        total += linear.layers * state * (question.count + 1)
    if geometry.window and geometry.window_layers:
        held = geometry.window + question.count + question.block_tokens
        total += geometry.window_layers * held * _window_bytes(geometry, question)
    return math.ceil(total)


def _window_bytes(geometry: Geometry, question: Question) -> float:
    head_dim = geometry.head_dim or 0
    if geometry.compressed:
        return head_dim * question.cache_bytes
    return _heads_bytes(geometry.kv_heads or 1, head_dim, question)


def _drafter_token_bytes(
    question: Question, target: float | None
) -> tuple[float, bool] | None:
    """Bytes of a token in the drafter's own cache, and whether its heads are assumed."""
    method, geometry = question.method, question.geometry
    if method is None or FACTS[method].need in (Need.NOTHING, Need.PACKAGE):
        return 0.0, False
    if method in (Method.MEDUSA, Method.MLP_SPECULATOR):
        return 0.0, False
    if method is Method.DRAFT_MODEL:
        return _draft_model_bytes(question)
    if method is Method.MTP:
        layers = geometry.kv_layers or geometry.layers
        if target is None or not layers:
            return None
        return target / layers * (question.mtp_layers or 1), question.mtp_layers is None
    layers = PARALLEL_LAYERS if method in (Method.DFLASH, Method.DSPARK) else 1
    known = geometry.kv_heads is not None and not geometry.compressed
    heads = (geometry.kv_heads if known else None) or _USUAL_HEADS
    head_dim = (geometry.head_dim if known else None) or _USUAL_HEAD_DIM
    return layers * _heads_bytes(heads, head_dim, question), True


def _draft_model_bytes(question: Question) -> tuple[float, bool] | None:
    drafter = question.drafter
    own = geometry_of_name(drafter.repository) if drafter else None
    if own is None:
        return None
    size = _target_token_bytes(own, question)
    return None if size is None else (size, not own.checked)


def _kind(geometry: Geometry) -> Text:
    if geometry.compressed:
        return text("compressed attention with a window")
    if geometry.linear is not None:
        return text("full attention in some layers, linear attention in the others")
    if geometry.latent_width is not None:
        latent = text("latent attention, whole on every device")
        return (
            text("latent attention with an index, whole on every device")
            if geometry.indexer_width
            else latent
        )
    if geometry.window_layers:
        return text("grouped heads, a window in some layers")
    return text("grouped heads")

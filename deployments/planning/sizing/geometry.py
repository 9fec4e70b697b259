"""The geometry of a target model: what its weights, KV cache and buffers are computed from."""

import functools
from dataclasses import dataclass, replace
from importlib import resources
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from deployments.planning.catalog import Attention, TargetModel

LATENT_KINDS = ("mla", "dsa_mla", "sfa_mla")
SPARSE_KINDS = ("dsa_mla", "sfa_mla")
KNOWN_KINDS = ("gqa", "mha", "gqa_swa", "hybrid_gdn", "dsa_hybrid", *LATENT_KINDS)
_INDEXER_WIDTH = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttention:
    """Layers that keep a state of fixed size instead of a cache (Gated DeltaNet)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    layers: int
    value_heads: int
    key_heads: int
    head_dim: int = 128
    convolution: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Counts and widths of a model; ``None`` is unknown, never a guess.

    ``kv_layers`` are the layers whose cache grows with the context; ``window_layers`` keep the last
    ``window`` tokens only. ``latent_width`` is the cached width of latent attention,
    ``indexer_width`` what sparse attention caches besides, in ``indexer_layers`` (all when ``None``):
    the other layers take over the choice of an earlier one. ``compressed`` are (tokens to one cached
    entry, layers) of compressed attention. ``expert_width`` is the inner width of one routed expert,
    ``expert_layers`` the layers that have any. ``four_bit_experts`` says that the checkpoints called
    fp8 hold the experts in four bits. ``checked`` is false where no published configuration was read.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    source: str
    checked: bool
    names: tuple[str, ...] = ()
    parameters: int | None = None
    active_parameters: int | None = None
    layers: int | None = None
    hidden_size: int | None = None
    vocabulary_size: int | None = None
    tied_embedding: bool = False
    kv_heads: int | None = None
    head_dim: int | None = None
    kv_layers: int | None = None
    latent_width: int | None = None
    indexer_width: int | None = None
    indexer_layers: int | None = None
    window: int | None = None
    window_layers: int | None = None
    linear: LinearAttention | None = None
    compressed: tuple[tuple[int, int], ...] = ()
    experts: int | None = None
    active_experts: int | None = None
    expert_width: int | None = None
    expert_layers: int | None = None
    four_bit_experts: bool = False
    cache_known: bool = True

    @property
    def mixture(self) -> bool:
        """Whether routed experts do part of the work, as far as the sizes tell."""
        if self.experts is not None:
            return True
        total, active = self.parameters, self.active_parameters
        return total is not None and active is not None and active < total

    @property
    def embedding_parameters(self) -> int | None:
        """Input embedding and output head together."""
        if self.vocabulary_size is None or self.hidden_size is None:
            return None
        return (
            self.vocabulary_size * self.hidden_size * (1 if self.tied_embedding else 2)
        )

    @property
    def routed_parameters(self) -> int | None:
        """Parameters of all routed experts; 0 for a dense model.

        Without the width of an expert they follow from the totals: total = dense + routed and
        active = dense + routed x active / total experts.
        """
        if not self.mixture:
            return 0
        if (
            self.experts
            and self.expert_width
            and self.expert_layers
            and self.hidden_size
        ):
            one = 3 * self.hidden_size * self.expert_width
            return self.experts * one * self.expert_layers
        total, active = self.parameters, self.active_parameters
        if not (self.experts and self.active_experts and total and active):
            return None
        return (total - active) * self.experts // (self.experts - self.active_experts)


@functools.cache
def shipped_geometries() -> dict[str, Geometry]:
    """Return the shipped geometries by model name without organisation, in lower case."""
    folder = resources.files("deployments.planning.sizing") / "data"
    content = (folder / "geometry.json").read_text(encoding="utf-8")
    shipped = TypeAdapter(tuple[Geometry, ...]).validate_json(content)
    return {_tail(name): one for one in shipped for name in one.names}


def geometry_of_name(name: str) -> Geometry | None:
    """Return the shipped geometry of a model known by name only."""
    return shipped_geometries().get(_tail(name))


def geometry_of(model: TargetModel) -> Geometry:
    """Return what is known of a catalog entry: its own facts, then those of the shipped file."""
    shipped = geometry_of_name(model.key) or Geometry(source="catalog", checked=True)
    told = replace(
        shipped,
        parameters=shipped.parameters or model.parameters,
        active_parameters=model.active_parameters or shipped.active_parameters,
        layers=model.layers or shipped.layers,
        hidden_size=model.hidden_size or shipped.hidden_size,
        vocabulary_size=model.vocabulary_size or shipped.vocabulary_size,
    )
    if model.experts is not None:
        told = replace(
            told, experts=model.experts.total, active_experts=model.experts.active
        )
    return _with_attention(told, model.attention)


def _with_attention(told: Geometry, attention: Attention | None) -> Geometry:
    if attention is None:
        return told
    kind = attention.kind
    if kind not in KNOWN_KINDS:
        return replace(told, cache_known=False)
    told = replace(
        told,
        kv_heads=attention.kv_heads or told.kv_heads,
        head_dim=attention.head_dim or told.head_dim,
        window=attention.sliding_window or told.window,
    )
    if kind in LATENT_KINDS and attention.kv_lora_rank is not None:
        rope = attention.qk_rope_head_dim or 0
        told = replace(told, latent_width=attention.kv_lora_rank + rope)
    if kind in SPARSE_KINDS:
        told = replace(told, indexer_width=told.indexer_width or _INDEXER_WIDTH)
    interval = attention.full_attention_interval
    if interval and told.layers and not told.kv_layers:
        told = replace(told, kv_layers=told.layers // interval)
    return replace(told, cache_known=_complete(told, kind))


def _complete(told: Geometry, kind: str) -> bool:
    """Whether the cache of such attention can be computed from what is known."""
    if kind in LATENT_KINDS:
        return told.latent_width is not None
    if kind == "hybrid_gdn":
        return told.linear is not None and told.kv_layers is not None
    if kind == "gqa_swa":
        return told.window is not None and told.window_layers is not None
    return bool(told.compressed) if kind == "dsa_hybrid" else True


def _tail(name: str) -> str:
    return name.rsplit("/", maxsplit=1)[-1].lower()

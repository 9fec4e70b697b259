"""The shape of a target model as far as speed depends on it: weights, experts, layers, KV cache."""

import functools
import math
from dataclasses import dataclass
from importlib import resources

from pydantic import TypeAdapter

from deployments.planning.catalog import Attention, TargetModel
from deployments.planning.text import Text, text

LATENT_KINDS = ("mla", "dsa_mla", "sfa_mla")
_LATENT_WIDTH = 576
_DEPTH_TO_WIDTH = 100
_TIED_BELOW = 5_000_000_000
_DENSE_SHARE_OF_ACTIVE = 0.42
_ACTIVE_EXPERTS = 8
_VOCABULARY = 150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedShape:
    """What a model's published configuration says; ``kv_layers`` only where fewer than ``layers``."""

    names: tuple[str, ...]
    source: str
    parameters: int
    active_parameters: int
    layers: int | None = None
    hidden_size: int | None = None
    vocabulary_size: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    kv_layers: int | None = None
    latent_width: int | None = None
    experts: int | None = None
    active_experts: int | None = None
    context_read_limit: int | None = None
    tied_embedding: bool = False
    recurrent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A target model for the speed model; parameters are counts.

    ``dense_parameters`` are read in every step (without the input embedding), ``expert_parameters``
    are all routed experts together. ``kv_values`` is the number of cached values of one token over
    all layers. ``kv_shards`` is how many devices can share one token's cache. ``recurrent`` marks
    layers of linear attention. ``context_read_limit`` is the number of cached tokens that sparse
    attention reads. ``assumed`` names what no document told and was derived from the size.
    """

    name: str
    parameters: float
    active_parameters: float
    layers: int
    hidden_size: int
    vocabulary_size: int
    dense_parameters: float
    expert_parameters: float
    experts: float
    active_experts: float
    kv_values: float
    kv_shards: int
    latent_attention: bool
    recurrent: bool
    context_read_limit: int | None
    assumed: tuple[Text, ...]
    source: str

    @property
    def mixture(self) -> bool:
        """Whether routed experts do part of the work."""
        return self.expert_parameters > 0

    def experts_share(self, tokens: float) -> float:
        """Return the share of routed experts that so many independently routed tokens touch."""
        if not self.mixture:
            return 0.0
        idle = 1 - self.active_experts / self.experts
        return 1 - math.exp(tokens * math.log(idle))

    def context_read(self, context_tokens: float) -> float:
        """Return how many cached tokens attention reads for one sequence of this length."""
        limit = self.context_read_limit
        return context_tokens if limit is None else min(context_tokens, limit)


@functools.cache
def published_shapes() -> dict[str, PublishedShape]:
    """Return the shipped shapes by model name without its organisation, in lower case."""
    folder = resources.files("deployments.planning.speedup") / "data"
    text = (folder / "shapes.json").read_text(encoding="utf-8")
    shapes = TypeAdapter(tuple[PublishedShape, ...]).validate_json(text)
    return {_tail(name): shape for shape in shapes for name in shape.names}


def shape_of_name(
    name: str, parameters: float | None = None, active_parameters: float | None = None
) -> ModelShape | None:
    """Return the shape of a model known by its name and perhaps its size, ``None`` without both."""
    published = published_shapes().get(_tail(name))
    if published is not None:
        return _completed(name, published)
    if parameters is None:
        return None
    return _completed(
        name,
        PublishedShape(
            names=(name,),
            source=text("derived from its size"),
            parameters=round(parameters),
            active_parameters=round(active_parameters or parameters),
        ),
    )


def shape_of_model(model: TargetModel) -> ModelShape | None:
    """Return the shape of a catalog entry; ``None`` when nobody knows how large the model is.

    The catalog's facts win. What it leaves open comes from the published configuration of the same
    model, and what is open still is derived from the size and listed in ``assumed``.
    """
    known = published_shapes().get(_tail(model.key))
    parameters = model.parameters or (known.parameters if known else None)
    if parameters is None:
        return None
    if known is None:
        known = PublishedShape(
            names=(model.key,),
            source="catalog",
            parameters=parameters,
            active_parameters=parameters,
            tied_embedding=parameters < _TIED_BELOW,
        )
    attention = model.attention or Attention(kind="")
    experts = model.experts
    merged = PublishedShape(
        names=(model.key,),
        source=known.source,
        parameters=parameters,
        active_parameters=model.active_parameters or known.active_parameters,
        layers=model.layers or known.layers,
        hidden_size=model.hidden_size or known.hidden_size,
        vocabulary_size=known.vocabulary_size,
        kv_heads=attention.kv_heads or known.kv_heads,
        head_dim=attention.head_dim or known.head_dim,
        kv_layers=_kv_layers(attention, model.layers, known),
        latent_width=_latent_width(attention, known),
        experts=experts.total if experts else known.experts,
        active_experts=experts.active if experts else known.active_experts,
        context_read_limit=attention.index_topk or known.context_read_limit,
        tied_embedding=known.tied_embedding,
        recurrent="gdn" in attention.kind or known.recurrent,
    )
    return _completed(model.key, merged)


def _completed(name: str, told: PublishedShape) -> ModelShape:
    assumed: list[Text] = []
    active = float(told.active_parameters)
    hidden = told.hidden_size
    if hidden is None:
        hidden = round((active * _DEPTH_TO_WIDTH / 12) ** (1 / 3) / 128) * 128 or 128
        assumed.append(text("hidden size"))
    layers = told.layers
    if layers is None:
        layers = max(1, round(hidden / _DEPTH_TO_WIDTH))
        assumed.append(text("layers"))
    if told.vocabulary_size is None:
        assumed.append(text("vocabulary"))
    vocabulary = told.vocabulary_size or _VOCABULARY
    experts, active_experts, expert_parameters = _experts(told, assumed)
    embedding = 0.0 if told.tied_embedding else float(vocabulary * hidden)
    kv_values, shards = _cache(told, layers, assumed)
    return ModelShape(
        name=name,
        parameters=float(told.parameters),
        active_parameters=active,
        layers=layers,
        hidden_size=hidden,
        vocabulary_size=vocabulary,
        dense_parameters=max(
            told.parameters - expert_parameters - embedding, 0.1 * active
        ),
        expert_parameters=expert_parameters,
        experts=experts,
        active_experts=active_experts,
        kv_values=kv_values,
        kv_shards=shards,
        latent_attention=told.latent_width is not None,
        recurrent=told.recurrent,
        context_read_limit=told.context_read_limit,
        assumed=tuple(assumed),
        source=told.source,
    )


def _experts(told: PublishedShape, assumed: list[Text]) -> tuple[float, float, float]:
    """Experts, active experts and the parameters of all routed experts.

    total = dense + routed and active = dense + routed x active/total experts give the routed part.
    """
    inactive = told.parameters - told.active_parameters
    if inactive <= 0:
        return 1.0, 1.0, 0.0
    if told.experts and told.active_experts:
        share = told.active_experts / told.experts
        return float(told.experts), float(told.active_experts), inactive / (1 - share)
    assumed.append(text("experts"))
    routed_active = (1 - _DENSE_SHARE_OF_ACTIVE) * told.active_parameters
    routed = inactive + routed_active
    experts = max(_ACTIVE_EXPERTS, _ACTIVE_EXPERTS * routed / routed_active)
    return experts, float(_ACTIVE_EXPERTS), routed


def _cache(told: PublishedShape, layers: int, assumed: list[Text]) -> tuple[float, int]:
    kv_layers = told.kv_layers or layers
    if told.latent_width is not None:
        return float(told.latent_width * kv_layers), 1
    if told.kv_heads is None or told.head_dim is None:
        assumed.append(text("KV heads"))
    heads = told.kv_heads or 8
    return 2.0 * heads * (told.head_dim or 128) * kv_layers, heads


def _latent_width(attention: Attention, known: PublishedShape) -> int | None:
    if attention.kv_lora_rank is not None:
        return attention.kv_lora_rank + (attention.qk_rope_head_dim or 0)
    if attention.kind in LATENT_KINDS:
        return _LATENT_WIDTH
    return None if attention.kind else known.latent_width


def _kv_layers(
    attention: Attention, layers: int | None, known: PublishedShape
) -> int | None:
    if known.kv_layers is not None:
        return known.kv_layers
    if layers is None:
        return None
    if attention.full_attention_interval:
        return layers // attention.full_attention_interval
    return layers // 2 if attention.kind == "gqa_swa" else None


def _tail(name: str) -> str:
    return name.rsplit("/", maxsplit=1)[-1].lower()

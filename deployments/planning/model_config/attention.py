"""The kind of attention and the geometry of its KV cache."""

from dataclasses import dataclass

from deployments.planning.catalog import Attention
from deployments.planning.model_config.values import Config
from deployments.planning.text import Text, text

LINEAR = "linear_attention"
WINDOW = "sliding_attention"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionReading:
    """``place`` is the key that told the kind; without ``attention``, ``why`` says what is missing."""

    attention: Attention | None
    place: str = ""
    why: Text | None = None


def read_attention(config: Config) -> AttentionReading:
    """Tell the kind from the keys that only that kind has (vLLM 0.32.0 sources)."""
    heads = config.count("num_attention_heads", "n_head", "n_heads")
    compressed = config.has("compress_ratios") or _type(config, "deepseek_v4")
    if compressed:
        return _found(
            Attention(
                kind="dsa_hybrid",
                heads=heads,
                kv_heads=config.count("num_key_value_heads"),
                head_dim=config.count("head_dim"),
                qk_rope_head_dim=config.count("qk_rope_head_dim"),
                sliding_window=config.count("sliding_window"),
                index_topk=config.count("index_topk"),
            ),
            config.path("compress_ratios"),
        )
    if config.has("kv_lora_rank"):
        return _latent(config, heads)
    return _heads(config, heads)


def _latent(config: Config, heads: int | None) -> AttentionReading:
    top = config.count("index_topk")
    kind = "mla"
    if top is not None:
        kind = "sfa_mla" if _type(config, "deepseek_v32") else "dsa_mla"
    return _found(
        Attention(
            kind=kind,
            heads=heads,
            kv_lora_rank=config.count("kv_lora_rank"),
            qk_rope_head_dim=config.count("qk_rope_head_dim"),
            index_topk=top,
        ),
        config.path("kv_lora_rank" if top is None else "index_topk"),
    )


def _heads(config: Config, heads: int | None) -> AttentionReading:
    shared = 1 if config.values.get("multi_query") is True else None
    kv_heads = config.count("num_key_value_heads", "num_kv_heads") or shared
    if heads is None:
        return AttentionReading(
            attention=None, why=text("num_attention_heads is missing.")
        )
    if kv_heads is None:
        return AttentionReading(
            attention=None,
            why=text(
                "num_key_value_heads is missing; the number of KV heads is not guessed from "
                "num_attention_heads."
            ),
        )
    size = config.count("head_dim", "attention_head_dim") or _divided(config, heads)
    layers = config.names("layer_types")
    hybrid = _hybrid(config, layers)
    window = _window(config, layers)
    interval = None
    if hybrid is not None:
        kind, key = hybrid
        interval = config.count("full_attention_interval") or _interval(layers)
    elif window is not None:
        kind, key = "gqa_swa", "sliding_window"
    elif kv_heads == heads:
        kind, key = "mha", "num_key_value_heads"
    else:
        kind, key = "gqa", "num_key_value_heads"
    return _found(
        Attention(
            kind=kind,
            heads=heads,
            kv_heads=kv_heads,
            head_dim=size,
            sliding_window=window,
            full_attention_interval=interval,
        ),
        config.path(key),
    )


def _hybrid(config: Config, layers: tuple[str, ...]) -> tuple[str, str] | None:
    gated = config.has("linear_num_value_heads")
    if gated or (LINEAR in layers and config.has("linear_key_head_dim")):
        return "hybrid_gdn", "linear_num_value_heads"
    others = (
        "linear_attn_config",
        "hybrid_override_pattern",
        "layers_block_type",
        "attn_type_list",
        "mamba_num_heads",
        "mamba_d_state",
    )
    named = next((key for key in others if config.has(key)), None)
    if named is not None or LINEAR in layers:
        return "hybrid_linear", named or "layer_types"
    return None


def _window(config: Config, layers: tuple[str, ...]) -> int | None:
    size = config.count("sliding_window")
    if not size or config.values.get("use_sliding_window") is False:
        return None
    return size if not layers or WINDOW in layers else None


def _interval(layers: tuple[str, ...]) -> int | None:
    """Every how many layers one has full attention, where that is regular."""
    full = [number for number, kind in enumerate(layers, start=1) if kind != LINEAR]
    if not full or len(layers) % len(full):
        return None
    step = len(layers) // len(full)
    regular = full == list(range(step, len(layers) + 1, step))
    return step if regular else None


def _divided(config: Config, heads: int) -> int | None:
    """Width of a head as vLLM computes it where the file does not give it."""
    hidden = config.count("hidden_size", "n_embd", "d_model")
    return hidden // heads if hidden and heads and hidden % heads == 0 else None


def _type(config: Config, start: str) -> bool:
    return (config.name("model_type") or "").startswith(start)


def _found(attention: Attention, place: str) -> AttentionReading:
    return AttentionReading(attention=attention, place=place)

"""MTP layers: how many the config.json declares, and whether the weights really hold them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.model_config.values import Config, first_number

DEPTH_KEYS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
"""Spellings of the depth in vLLM 0.32.0, speculative config."""

ROUTED_TYPES = frozenset(
    [
        "deepseek_v3",
        "deepseek_v32",
        "glm_moe_dsa",
        "deepseek_v4",
        "glm5_next",
        "ernie4_5_moe",
        "qwen3_next",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_5_text",
        "qwen3_5_moe_text",
        "qwen4_exp",
        "qwen4_exp_text",
        "intern_s2_preview",
        "interns2_mobius",
        "nemotron_h",
        "nemotron_h_puzzle",
        "longcat_flash",
        "pangu_ultra_moe",
        "exaone_moe",
        "exaone4_5",
        "step3p5",
        "step3p7",
        "step5",
        "hy_v3",
        "hy_v4",
        "minimax_m3_vl",
        "bailing_hybrid",
        "inkling_mm_model",
        "inkling_model",
        "kimi_k3",
        "dots3_note",
    ]
)
ROUTED_ARCHITECTURES = frozenset(
    [
        "MiMoForCausalLM",
        "MiMoV2ForCausalLM",
        "MiMoV2OmniForCausalLM",
        "MiMoV2FlashForCausalLM",
        "Glm4MoeForCausalLM",
        "Glm4MoeLiteForCausalLM",
        "GlmOcrForConditionalGeneration",
        "BailingMoeV2_5ForCausalLM",
        "BailingMoeV3ForCausalLM",
    ]
)
"""Targets that vLLM 0.8.5 to 0.33.0 maps to MTP drafting, by model_type or architecture."""

_NAMED = re.compile(
    r"(?:^|\.)(?:mtp|mtp_layers|mtp_block|mtp_emb_norm|mtp_hidden_norm|nextn|nextn_layers)(?:\.|$)"
    r"|\.(?:eh_proj|enorm|hnorm)(?:\.|$)"
)
_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MtpReading:
    """``declared`` is the depth that the file states; ``held`` whether tensors are in the index,
    ``None`` without one. ``routed`` says whether any vLLM drafts with MTP of this architecture."""

    declared: int | None
    place: str
    held: bool | None
    routed: bool


def read_mtp(
    whole: Config,
    inner: Config,
    architectures: tuple[str, ...],
    index: dict[str, Json] | None,
) -> MtpReading:
    """Read the depth and look for the tensors."""
    nested = whole.inner("mtp_config")
    places = [one for one in (whole, inner, nested) if one is not None]
    found = first_number(places, *DEPTH_KEYS)
    types = {whole.name("model_type"), inner.name("model_type")}
    layers = inner.count("num_hidden_layers", "n_layer", "num_layers")
    names = index.get("weight_map") if index is not None else None
    held = None
    if isinstance(names, dict):
        held = holds_mtp(names, layers)
    return MtpReading(
        declared=found[0] if found else None,
        place=found[1] if found else "",
        held=held,
        routed=bool(types & ROUTED_TYPES)
        or not ROUTED_ARCHITECTURES.isdisjoint(architectures),
    )


def holds_mtp(names: Iterable[str], layers: int | None) -> bool:
    """Whether a tensor belongs to an MTP layer."""
    return any(is_mtp(name, layers) for name in names)


def is_mtp(name: str, layers: int | None) -> bool:
    """Whether the tensor belongs to an MTP layer: by its name, or behind the last hidden layer."""
    if _NAMED.search(name):
        return True
    layer = _LAYER.search(name)
    plain = "vis" not in name and "audio" not in name and "encoder" not in name
    return bool(layer and layers and plain and int(layer[1]) >= layers)

"""vLLM's own SpeculativeConfig takes what the planner renders, against tiny configurations."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.real.engine import RealEngine
from tests.real.rendered import Rendered, everything

TINY: dict[str, Any] = {
    "vocab_size": 448,
    "hidden_size": 2048,
    "intermediate_size": 256,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "head_dim": 32,
    "max_position_embeddings": 1 << 20,
    "num_hidden_layers": 4,
}
LLAMA = {**TINY, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}
READS = {"target_layer_ids": [1, 2], "mask_token_id": 3}
DRAFTERS: dict[str, dict[str, Any]] = {
    "draft_model": {**LLAMA, "num_hidden_layers": 1},
    "eagle": {**LLAMA, "num_hidden_layers": 1},
    "eagle3": {
        **LLAMA,
        "architectures": ["LlamaForCausalLMEagle3"],
        "num_hidden_layers": 1,
        "draft_vocab_size": 448,
        "target_hidden_size": 2048,
    },
    "dflash": {
        **TINY,
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "num_hidden_layers": 1,
        "block_size": 16,
        "dflash_config": READS,
    },
    "dspark": {
        **TINY,
        "architectures": ["Qwen3DSparkModel"],
        "model_type": "qwen3",
        "num_hidden_layers": 1,
        "block_size": 7,
        "markov_rank": 4,
        "markov_head_type": "vanilla",
        "dflash_config": READS,
    },
}
WITH_MTP = {
    "deepseek_v3": "DeepseekV3ForCausalLM",
    "deepseek_v32": "DeepseekV32ForCausalLM",
    "deepseek_v4": "DeepseekV4ForCausalLM",
    "glm4_moe": "Glm4MoeForCausalLM",
}
"""Families whose own configuration class is used; MiMo's, with the same depth, stands for the others."""


def test_every_rendered_speculative_config_is_accepted(engine: RealEngine) -> None:
    """Each different combination of target, depth, method, keys and tensor parallel size."""
    asked = {}
    for rendered in everything():
        if rendered.speculative:
            target, config = _target(rendered), _with_drafter(engine, rendered)
            size = rendered.tensor_parallel_size
            asked[repr((target, sorted(config.items()), size))] = (target, config, size)
    assert len(asked) > 50
    refused = Counter(
        f"{config}: {refusal[:200]}"
        for (name, values), config, size in asked.values()
        if (
            refusal := engine.speculative_refusal(
                config, engine.model(name, values), tensor_parallel_size=size
            )
        )
        is not None
    )
    assert refused == {}


@pytest.mark.parametrize("method", ["eagle3", "draft_model"])
def test_tiny_models_on_disk_fit_together(
    engine: RealEngine, models: Path, method: str
) -> None:
    """What make tiny-models wrote."""
    drafter = {"eagle3": "eagle3", "draft_model": "draft"}[method]
    config = {
        "method": method,
        "model": str(models / drafter),
        "num_speculative_tokens": 3,
    }
    assert engine.speculative_refusal(config, models / "target") is None


def _target(rendered: Rendered) -> tuple[str, dict[str, Any]]:
    config = rendered.speculative or {}
    if config.get("method") != "mtp":
        return "llama", LLAMA
    depth, family = rendered.model.mtp_layers or 1, rendered.model.model_type or ""
    if family in WITH_MTP:
        return f"{family}-{depth}", {
            "architectures": [WITH_MTP[family]],
            "model_type": family,
            "num_nextn_predict_layers": depth,
            "vocab_size": 448,
            "max_position_embeddings": 1 << 20,
        }
    return f"mimo-{depth}", _mimo(depth)


def _mimo(depth: int) -> dict[str, Any]:
    return {
        **TINY,
        "architectures": ["MiMoForCausalLM"],
        "model_type": "qwen2",
        "num_nextn_predict_layers": depth,
    }


def _with_drafter(engine: RealEngine, rendered: Rendered) -> dict[str, Any]:
    config = dict(rendered.speculative or {})
    method = str(config["method"])
    if method == "mtp" and "model" in config:
        # Gemma's module lies beside the target; MiMo's stands for it.
        config["model"] = str(engine.model("mimo-1", _mimo(1)))
    elif "model" in config or method in DRAFTERS:
        config["model"] = str(engine.model(f"drafter-{method}", DRAFTERS[method]))
    return config

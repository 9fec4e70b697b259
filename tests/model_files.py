"""Model directories with tiny weights, as they lie on a host, for tests."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 2048,
}
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "vocab_size": 1000,
    "max_position_embeddings": 2048,
    "n_routed_experts": 2,
    "num_experts_per_tok": 1,
    "num_nextn_predict_layers": 1,
}
LAYERS = {"model.embed_tokens.weight": 400, "model.layers.0.mlp.weight": 600}
MORE = {"model.layers.1.mlp.weight": 600, "lm_head.weight": 400}
INDEX = "model.safetensors.index.json"


def shard(tensors: Mapping[str, int]) -> bytes:
    """A safetensors file whose tensors have these sizes in bytes."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, size in tensors.items():
        header[name] = {
            "dtype": "U8",
            "shape": [size],
            "data_offsets": [end, end + size],
        }
        end += size
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + bytes(end)


def model(
    root: Path,
    name: str,
    shards: Mapping[str, Mapping[str, int]] | None = None,
    config: Mapping[str, object] = LLAMA,
) -> Path:
    """A directory with a config.json and weights: one file, or shards with their index."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    if shards is None:
        (folder / "model.safetensors").write_bytes(shard({**LAYERS, **MORE}))
        return folder
    names: dict[str, str] = {}
    for file, tensors in shards.items():
        (folder / file).write_bytes(shard(tensors))
        names |= dict.fromkeys(tensors, file)
    total = sum(size for one in shards.values() for size in one.values())
    index = {"metadata": {"total_size": total}, "weight_map": names}
    (folder / INDEX).write_text(json.dumps(index))
    return folder


def two_shards(root: Path, name: str, **more: Mapping[str, object]) -> Path:
    """A model in two shards."""
    files = {
        "model-00001-of-00002.safetensors": LAYERS,
        "model-00002-of-00002.safetensors": MORE,
    }
    return model(root, name, files, **more)

"""Configurations shaped as published ones, shortened to the keys that the reader looks at."""

from typing import Any

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rope_scaling": {
        "factor": 8.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
    "torch_dtype": "bfloat16",
}
DEEPSEEK: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "num_hidden_layers": 61,
    "num_nextn_predict_layers": 1,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "vocab_size": 129280,
    "max_position_embeddings": 163840,
    "rope_scaling": {
        "factor": 40,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
QWEN_HYBRID: dict[str, Any] = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "model_type": "qwen3_5",
    "text_config": {
        "model_type": "qwen3_5_text",
        "dtype": "bfloat16",
        "hidden_size": 5120,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "num_hidden_layers": 64,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 16,
        "linear_num_value_heads": 48,
        "linear_num_key_heads": 16,
        "linear_key_head_dim": 128,
        "mtp_num_hidden_layers": 1,
        "vocab_size": 248320,
        "max_position_embeddings": 262144,
    },
}
GPT_OSS: dict[str, Any] = {
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "num_hidden_layers": 36,
    "num_local_experts": 128,
    "num_experts_per_tok": 4,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
    "sliding_window": 128,
    "vocab_size": 201088,
    "max_position_embeddings": 131072,
    "quantization_config": {"quant_method": "mxfp4"},
}
EAGLE3: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 1,
    "vocab_size": 128256,
    "draft_vocab_size": 32000,
}
SPECULATORS: dict[str, Any] = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "draft_vocab_size": 64000,
    "transformer_layer_config": {
        "model_type": "llama",
        "hidden_size": 5120,
        "num_hidden_layers": 1,
        "vocab_size": 151936,
    },
    "speculators_config": {
        "algorithm": "eagle3",
        "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 5}],
        "verifier": {
            "name_or_path": "Qwen/Qwen3-32B",
            "architectures": ["Qwen3ForCausalLM"],
        },
    },
}


def index(*names: str, size: int = 0, parameters: int = 0) -> dict[str, Any]:
    """An index of tensors, with sizes where given."""
    metadata = {"total_size": size, "total_parameters": parameters}
    return {
        "metadata": {key: value for key, value in metadata.items() if value},
        "weight_map": dict.fromkeys(names, "model-00001-of-00001.safetensors"),
    }

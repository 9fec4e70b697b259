"""Target models read from config.json: geometry, quantisation, MTP, and what stays open."""

from typing import Any

import pytest

from deployments.planning.catalog import Experts
from deployments.planning.model_config.reading import ModelReading, read_model
from tests.planning.model_config.configs import (
    DEEPSEEK,
    GPT_OSS,
    LLAMA,
    QWEN_HYBRID,
    index,
)


def changed(config: dict[str, Any], **values: Any) -> dict[str, Any]:
    """The configuration with some keys replaced, or taken out where the value is None."""
    merged = {**config, **values}
    return {key: value for key, value in merged.items() if value is not None}


def asked(reading: ModelReading) -> set[str]:
    return {one.name for one in reading.asked}


def test_a_dense_model_is_read_whole_with_its_index() -> None:
    weights = index("model.layers.31.mlp.up_proj.weight", size=16, parameters=8)

    read = read_model(LLAMA, weights)

    assert read.target
    assert read.asked == ()
    assert (read.architecture, read.model_type) == ("LlamaForCausalLM", "llama")
    assert (read.layers, read.hidden_size, read.vocabulary_size) == (32, 4096, 128256)
    assert (read.context_length, read.quantisation) == (131072, "bf16")
    assert (read.size_bytes, read.parameters) == (16, 8)
    assert read.attention is not None
    assert (read.attention.kind, read.attention.kv_heads) == ("gqa", 8)
    assert read.attention.head_dim == 128
    assert (read.has_mtp, read.holds_mtp, read.eagle3_interface) == (False, False, True)
    assert read.places["layers"] == "num_hidden_layers"


def test_without_an_index_size_and_parameters_are_asked_for() -> None:
    assert asked(read_model(LLAMA)) == {"size_bytes", "parameters"}


@pytest.mark.parametrize(
    ("tensor", "held"),
    [
        ("model.layers.61.eh_proj.weight", True),
        ("model.layers.61.mlp.experts.0.up_proj.weight", True),
        ("model.layers.60.mlp.experts.0.up_proj.weight", False),
        ("mtp.layers.0.self_attn.q_proj.weight", True),
        ("model.mtp_layers.0.input_layernorm.weight", True),
        ("model.visual.layers.61.weight", False),
    ],
)
def test_the_tensors_decide_whether_mtp_is_held(tensor: str, *, held: bool) -> None:
    read = read_model(DEEPSEEK, index(tensor, size=5))

    assert (read.mtp_layers, read.has_mtp, read.holds_mtp) == (1, True, held)
    assert read.places["mtp_layers"] == "num_nextn_predict_layers"


def test_without_an_index_nobody_knows_whether_mtp_is_held() -> None:
    read = read_model(DEEPSEEK)

    assert (read.has_mtp, read.holds_mtp) == (True, None)
    question = read.question("holds_mtp")
    assert question is not None
    assert "index of the weights" in question.why


def test_deepseek_has_latent_attention_experts_and_its_scaled_length() -> None:
    read = read_model(DEEPSEEK)

    assert read.attention is not None
    assert (read.attention.kind, read.attention.kv_lora_rank) == ("mla", 512)
    assert read.attention.qk_rope_head_dim == 64
    assert read.experts == Experts(total=256, active=8)
    assert (read.context_length, read.quantisation) == (163840, "fp8")


@pytest.mark.parametrize(
    ("kind", "model_type"), [("dsa_mla", "glm_moe_dsa"), ("sfa_mla", "deepseek_v32")]
)
def test_an_indexer_makes_it_sparse(kind: str, model_type: str) -> None:
    read = read_model(changed(DEEPSEEK, index_topk=2048, model_type=model_type))

    assert read.attention is not None
    assert (read.attention.kind, read.attention.index_topk) == (kind, 2048)


def test_a_hybrid_of_linear_layers_inside_a_multimodal_file() -> None:
    read = read_model(QWEN_HYBRID)

    assert read.attention is not None
    assert read.attention.kind == "hybrid_gdn"
    assert read.attention.full_attention_interval == 4
    assert (read.mtp_layers, read.layers, read.hidden_size) == (1, 64, 5120)
    assert read.places["mtp_layers"] == "text_config.mtp_num_hidden_layers"


def test_a_sliding_window_counts_only_where_layers_use_it() -> None:
    slides = read_model(GPT_OSS).attention
    off = read_model(changed(GPT_OSS, use_sliding_window=False)).attention
    full = read_model(changed(GPT_OSS, layer_types=["full_attention"] * 36)).attention

    assert slides is not None
    assert off is not None
    assert full is not None
    assert (slides.kind, slides.sliding_window) == ("gqa_swa", 128)
    assert (off.kind, full.kind) == ("gqa", "gqa")


def test_kv_heads_are_asked_for_and_not_guessed() -> None:
    read = read_model(changed(LLAMA, num_key_value_heads=None))

    assert read.attention is None
    assert "attention" in asked(read)


@pytest.mark.parametrize(
    "key", ["hidden_size", "num_hidden_layers", "vocab_size", "max_position_embeddings"]
)
def test_what_is_missing_is_asked_for(key: str) -> None:
    names = {"num_hidden_layers": "layers", "vocab_size": "vocabulary_size"}
    names["max_position_embeddings"] = "context_length"

    read = read_model(changed(LLAMA, **{key: None}))

    name = names.get(key, key)
    assert name in asked(read)
    assert getattr(read, name) is None


def test_a_value_of_the_wrong_kind_counts_as_missing() -> None:
    read = read_model(changed(LLAMA, num_hidden_layers="32", hidden_size=True))

    assert (read.layers, read.hidden_size) == (None, None)


@pytest.mark.parametrize(
    ("settings", "name", "flag"),
    [
        ({"quantize": "w8a8_dynamic"}, "w8a8", "ascend"),
        ({"quantize": "W8A8C8"}, "w8a8c8", "ascend"),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "awq", None),
        ({"quantization_config": {"quant_method": "gptq", "bits": 8}}, "int8", None),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {
                        "group_0": {
                            "weights": {"type": "int", "num_bits": 8},
                            "input_activations": {"type": "int", "num_bits": 8},
                        }
                    },
                }
            },
            "w8a8",
            None,
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {
                        "group_0": {"weights": {"type": "int", "num_bits": 4}}
                    },
                }
            },
            "int4",
            None,
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "modelopt",
                    "quant_algo": "NVFP4",
                }
            },
            "nvfp4",
            None,
        ),
        ({"quantization_config": {"quant_method": "bitsandbytes"}}, None, None),
        ({"torch_dtype": "int3"}, None, None),
    ],
)
def test_quantisation(
    settings: dict[str, Any], name: str | None, flag: str | None
) -> None:
    read = read_model(changed(LLAMA, **settings))

    assert (read.quantisation, read.quantization_flag) == (name, flag)
    assert ("quantisation" in asked(read)) is (name is None)


def test_mtp_layers_that_no_engine_uses_are_asked_about() -> None:
    read = read_model(changed(LLAMA, num_nextn_predict_layers=1))

    assert read.has_mtp is None
    assert "has_mtp" in asked(read)

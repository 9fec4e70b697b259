"""KV cache by kind of attention, against published figures and arithmetic by hand."""

from dataclasses import replace

import pytest

from deployments.planning.catalog import Attention
from deployments.planning.methods import Method
from deployments.planning.plan import Basis
from deployments.planning.sizing.cache import cache_of
from deployments.planning.sizing.geometry import Geometry, LinearAttention, geometry_of
from tests.planning.builders import shipped
from tests.planning.sizing.questions import question

LLAMA = ("meta-llama/Llama-3.1-8B-Instruct", "bf16")
V3 = ("deepseek-ai/DeepSeek-V3.1", "fp8")


@pytest.mark.parametrize(
    ("model", "token_bytes"),
    [
        (LLAMA, 131_072),
        (V3, 70_272),
        (("deepseek-ai/DeepSeek-V3.2", "fp8"), 61 * (1152 + 256)),
        (("zai-org/GLM-5.2", "fp8"), 78 * 1152 + 21 * 256),
        (("MiniMaxAI/MiniMax-M3", "bf16"), 60 * 2 * 4 * 128 * 2 + 57 * 256),
        (("Qwen/Qwen3-30B-A3B", "bf16"), 98_304),
        (("openai/gpt-oss-120b", "mxfp4"), 18 * 2 * 8 * 64 * 2),
    ],
)
def test_bytes_of_a_token(model: tuple[str, str], token_bytes: int) -> None:
    assert cache_of(question(*model)).token_bytes == token_bytes


def test_on_ascend_every_layer_is_taken_to_cache_an_index() -> None:
    asked = question("zai-org/GLM-5.2", "w8a8", ascend=True)
    assert cache_of(asked).token_bytes == 78 * (1152 + 256)


def test_heads_are_shared_out_until_each_device_has_one() -> None:
    sizes = [
        cache_of(question(*LLAMA, tensor_parallel_size=ranks)).token_bytes
        for ranks in (1, 4, 8, 16)
    ]
    assert sizes == [131_072, 32_768, 16_384, 16_384]


def test_latent_attention_is_whole_on_every_device() -> None:
    sizes = {
        cache_of(question(*V3, tensor_parallel_size=r)).token_bytes for r in (1, 8)
    }
    assert sizes == {70_272}


def test_decode_context_parallelism_shares_the_latent_cache() -> None:
    shared = question(*V3, tensor_parallel_size=8, context_parallel_size=4)
    assert cache_of(shared).token_bytes == 70_272 / 4


def test_one_byte_values_halve_the_cache() -> None:
    assert cache_of(question(*LLAMA, cache_bytes=1.0)).token_bytes == 65_536


def test_a_window_costs_a_sequence_and_not_a_token() -> None:
    asked = question("openai/gpt-oss-120b", "mxfp4")
    assert cache_of(asked).sequence_bytes == 18 * (128 + 16) * 2 * 8 * 64 * 2


def test_the_state_of_linear_attention_is_kept_for_every_draft_position() -> None:
    """Qwen3-Next: 32 value heads of 128 x 128 in four bytes, and three positions of convolution."""
    asked = question(*LLAMA)
    hybrid = Geometry(
        source="test",
        checked=True,
        layers=48,
        kv_layers=12,
        kv_heads=2,
        head_dim=256,
        linear=LinearAttention(layers=36, value_heads=32, key_heads=16),
    )
    asked = replace(asked, geometry=hybrid)
    one = 36 * (32 * 128 * 128 * 4 + (2 * 16 + 32) * 128 * 3 * 2)
    assert cache_of(asked).sequence_bytes == one
    assert cache_of(replace(asked, count=3)).sequence_bytes == 4 * one
    assert cache_of(asked).token_bytes == 12 * 2 * 2 * 256 * 2


def test_compressed_attention_keeps_one_entry_for_several_tokens() -> None:
    asked = question("deepseek-ai/DeepSeek-V4-Flash", "fp8", indexer_bytes=1.0)
    by_hand = 21 * (512 * 2 + 128) / 4 + 20 * 512 * 2 / 128
    assert cache_of(asked).token_bytes == by_hand


def test_an_mtp_layer_caches_like_a_layer_of_the_target() -> None:
    asked = question(*V3, method=Method.MTP, count=3)
    assert cache_of(asked).token_bytes == pytest.approx(70_272 * 62 / 61)


def test_a_head_has_a_layer_of_its_own() -> None:
    asked = question(*LLAMA, method=Method.EAGLE3, count=3)
    cache = cache_of(asked)
    assert (cache.token_bytes, cache.basis) == (131_072 + 4096, Basis.ASSUMED)


def test_a_draft_model_brings_the_cache_of_all_its_layers() -> None:
    entry = shipped("Qwen/Qwen3-32B")
    drafter = entry.drafter("qwen3-0.6b")
    asked = question(
        "Qwen/Qwen3-32B", "bf16", method=Method.DRAFT_MODEL, drafter=drafter, count=3
    )
    own = 28 * 2 * 8 * 128 * 2
    assert cache_of(asked).token_bytes == 64 * 2 * 8 * 128 * 2 + own


def test_sequences_take_whole_blocks_with_their_drafts() -> None:
    cache = cache_of(question(*LLAMA, count=3))
    assert cache.sequence(30, question(*LLAMA, count=3)) == 48 * 131_072


def test_geometry_that_is_not_known_is_not_guessed() -> None:
    geometry = geometry_of(shipped("mistralai/Mistral-Small-4-119B-2603"))
    cache = cache_of(replace(question(*LLAMA), geometry=geometry))
    assert (cache.token_bytes, cache.basis) == (None, Basis.UNKNOWN)


def test_attention_of_a_kind_that_is_not_understood_is_unknown() -> None:
    entry = shipped("Qwen/Qwen3-8B")
    strange = replace(entry, attention=Attention(kind="novel"))
    asked = replace(question(*LLAMA), geometry=geometry_of(strange))
    assert cache_of(asked).token_bytes is None

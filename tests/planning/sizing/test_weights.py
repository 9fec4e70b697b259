"""Weights of the fullest device: published file sizes, layouts, drafters."""

from dataclasses import replace
from typing import Any

import pytest

from deployments.planning.methods import Method
from deployments.planning.plan import Basis
from deployments.planning.sizing.geometry import geometry_of
from deployments.planning.sizing.quantisation import quantises_cache, weight_sizes
from deployments.planning.sizing.weights import (
    checkpoint_bytes,
    drafter_part,
    target_part,
)
from tests.planning.builders import shipped
from tests.planning.sizing.questions import question

V3 = "deepseek-ai/DeepSeek-V3.1"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


@pytest.mark.parametrize(
    ("model", "checkpoint", "gigabytes"),
    [
        (LLAMA, "bf16", 16.1),
        ("Qwen/Qwen3-32B", "bf16", 65.5),
        ("openai/gpt-oss-120b", "mxfp4", 65.2),
        ("moonshotai/Kimi-K2.6", "int4", 594.0),
        (V3, "fp8", 674.0),
    ],
)
def test_whole_checkpoints_weigh_what_their_files_do(
    model: str, checkpoint: str, gigabytes: float
) -> None:
    """Sizes of the published repositories; DeepSeek-V3's without its MTP layer."""
    entry = shipped(model)
    found = checkpoint_bytes(geometry_of(entry), entry.checkpoint(checkpoint))
    assert found == pytest.approx(gigabytes * 1e9, rel=0.03)


def test_experts_spread_over_all_ranks_and_attention_over_the_ranks_of_one_copy() -> (
    None
):
    alone = target_part(question(V3, "w8a8", tensor_parallel_size=16)).size_bytes
    ranks = target_part(
        question(V3, "w8a8", tensor_parallel_size=4, data_parallel_size=4)
    ).size_bytes
    assert alone is not None
    assert ranks is not None
    dense = 671e9 - 256 * 3 * 7168 * 2048 * 58 + 2 * 129280 * 7168
    assert ranks - alone == pytest.approx(dense * (1 / 4 - 1 / 16), rel=0.01)


def test_expert_parallelism_gives_whole_experts_to_a_device() -> None:
    """256 experts over 48 devices are six on some, not five and a third."""
    wide: dict[str, Any] = {"tensor_parallel_size": 16, "data_parallel_size": 3}
    cut = target_part(question(V3, "w8a8", **wide)).size_bytes
    whole = target_part(question(V3, "w8a8", expert_parallel=True, **wide)).size_bytes
    assert cut is not None
    assert whole is not None
    one_layer_set = 3 * 7168 * 2048 * 58
    assert whole - cut == pytest.approx((6 - 256 / 48) * one_layer_set, rel=0.001)


def test_a_known_size_wins_and_is_called_known() -> None:
    asked = question(LLAMA, "bf16")
    sized = replace(asked.checkpoint, size_bytes=16_060_556_376)
    part = target_part(replace(asked, checkpoint=sized, tensor_parallel_size=2))
    assert (part.size_bytes, part.basis) == (8_030_278_188, Basis.KNOWN)


def test_a_size_that_nobody_tells_is_unknown() -> None:
    asked = question(LLAMA, "bf16")
    unknown = replace(asked.geometry, parameters=None)
    part = target_part(replace(asked, geometry=unknown))
    assert (part.size_bytes, part.basis) == (None, Basis.UNKNOWN)


def test_an_mtp_layer_weighs_what_the_published_one_does() -> None:
    """DeepSeek-V3 publishes 11.5 billion parameters besides embeddings and output head."""
    part = drafter_part(question(V3, "fp8", method=Method.MTP, count=1))
    assert part.size_bytes == pytest.approx(11.5e9, rel=0.05)


def test_a_draft_tensor_parallel_size_of_one_puts_the_whole_head_on_one_device() -> (
    None
):
    entry = shipped(LLAMA)
    head = replace(entry.drafters[0], size_bytes=1_000_000_000)
    asked = question(
        LLAMA,
        "bf16",
        method=Method.EAGLE3,
        drafter=head,
        count=3,
        tensor_parallel_size=4,
    )
    sizes = [
        drafter_part(replace(asked, draft_tensor_parallel_size=ranks)).size_bytes
        for ranks in (1, 4)
    ]
    assert sizes == [1_000_000_000, 250_000_000]


@pytest.mark.parametrize("method", [None, Method.NGRAM, Method.SUFFIX])
def test_looking_text_up_loads_nothing(method: Method | None) -> None:
    part = drafter_part(question(LLAMA, "bf16", method=method))
    assert (part.size_bytes, part.basis) == (0, Basis.KNOWN)


def test_only_checkpoints_with_a_cache_format_quantise_the_cache() -> None:
    assert [quantises_cache(one) for one in ("w8a8c8", "w4a8c8", "w8a8", None)] == [
        True,
        True,
        False,
        False,
    ]
    assert weight_sizes("w8a8c8") == weight_sizes("w8a8")
    assert weight_sizes("unheard-of") is None

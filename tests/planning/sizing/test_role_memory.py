"""What is left for the KV cache and what it serves; published start-up logs as a check."""

from dataclasses import replace

import pytest

from deployments.planning.plan import Basis
from deployments.planning.sizing.buffers import buffer_parts
from deployments.planning.sizing.role import role_memory
from tests.planning.sizing.questions import GIB, question

LLAMA = ("meta-llama/Llama-3.1-8B-Instruct", "bf16")


def test_the_parts_and_the_cache_fill_the_budget() -> None:
    memory = role_memory(question(*LLAMA), "nvidia")
    assert memory.budget_bytes == 64 * GIB * 900 // 1000
    parts = sum(part.size_bytes or 0 for part in memory.parts)
    assert memory.kv_bytes == memory.budget_bytes - parts


def test_verification_is_positions_times_sequences_times_vocabulary() -> None:
    asked = question(*LLAMA, count=3, sequences=64)
    verification = buffer_parts(asked)[0]
    assert verification.size_bytes == 4 * 64 * 128_256 * 8
    assert verification.basis is Basis.DERIVED


def test_buffers_agree_with_a_published_start_up() -> None:
    """Llama-3.1-8B, 8192 batched tokens: 1.2 GiB of peak activation with its logits, 0.12 to 0.45
    GiB of non-torch memory."""
    verification, activations, _graphs, reserve = buffer_parts(
        question(*LLAMA, sequences=256)
    )
    peak = (verification.size_bytes or 0) + (activations.size_bytes or 0)
    assert peak == pytest.approx(1.2 * GIB, rel=0.2)
    assert 0.12 * GIB <= (reserve.size_bytes or 0) <= 0.45 * GIB


def test_hccl_buffers_are_reserved_for_each_group() -> None:
    plain = question(*LLAMA, ascend=True)
    wide = replace(plain, tensor_parallel_size=2, data_parallel_size=2, hccl_mib=1024)
    reserves = [buffer_parts(one)[3].size_bytes or 0 for one in (plain, wide)]
    assert reserves[1] - reserves[0] == 2 * 2 * GIB


def test_without_captured_graphs_nothing_is_kept_for_them() -> None:
    assert buffer_parts(question(*LLAMA, captures=False))[2].size_bytes == 0


def test_the_largest_context_starts_and_one_block_more_does_not() -> None:
    asked = question(*LLAMA, device_bytes=24 * GIB)
    longest = role_memory(asked, "nvidia").largest_context
    assert longest is not None
    exactly = replace(asked, context_length=longest)
    beyond = replace(asked, context_length=longest + asked.block_tokens)
    assert role_memory(exactly, "nvidia").fits is True
    assert role_memory(beyond, "nvidia").fits is False


def test_sequences_and_head_room_follow_from_the_cache() -> None:
    asked = question(*LLAMA, device_bytes=24 * GIB, sequences=64, sequences_wanted=8)
    memory = role_memory(asked, "nvidia")
    each = -(-2500 // 16) * 16 * 131_072
    assert memory.kv_bytes is not None
    assert memory.sequences == memory.kv_bytes // each
    assert memory.headroom_bytes == memory.kv_bytes - 8 * each


def test_an_unknown_device_is_unknown_and_not_refused() -> None:
    memory = role_memory(question(*LLAMA, device_bytes=None), "nvidia")
    assert (memory.fits, memory.kv_tokens, memory.headroom_bytes) == (None, None, None)
    assert memory.kv_bytes_per_token == 131_072


def test_weights_that_are_too_much_are_refused_even_where_the_rest_is_unknown() -> None:
    asked = question(*LLAMA, device_bytes=16 * GIB)
    blind = replace(asked.geometry, kv_heads=None, head_dim=None)
    assert role_memory(replace(asked, geometry=blind), "nvidia").fits is False
    roomy = replace(asked, geometry=blind, device_bytes=80 * GIB)
    assert role_memory(roomy, "nvidia").fits is None

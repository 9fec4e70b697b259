"""Questions about memory that tests change one fact of."""

from dataclasses import replace
from typing import Any

from deployments.planning.plan import Role
from deployments.planning.sizing.geometry import geometry_of
from deployments.planning.sizing.question import Question
from tests.planning.builders import shipped

GIB = 1 << 30


def question(model: str, checkpoint: str, **changes: Any) -> Question:
    """One device of 64 GiB, no parallel ranks, no drafting, 16 sequences of 2500 tokens."""
    entry = shipped(model)
    base = Question(
        role=Role.COMBINED,
        geometry=geometry_of(entry),
        checkpoint=entry.checkpoint(checkpoint),
        device_bytes=64 * GIB,
        share=900,
        share_given=True,
        tensor_parallel_size=1,
        data_parallel_size=1,
        expert_parallel=False,
        sequences=16,
        sequences_wanted=16,
        sequence_tokens=2500,
        context_length=8192,
        context_limit=entry.context_length,
        batched_tokens=8192,
        batched_tokens_given=True,
        count=0,
        method=None,
        drafter=None,
        draft_tensor_parallel_size=1,
        mtp_layers=entry.mtp_layers,
        unquantised_mtp=False,
        cache_bytes=2.0,
        indexer_bytes=2.0,
        context_parallel_size=1,
        block_tokens=16,
        captures=True,
        ascend=False,
        hccl_mib=200,
        launched_devices=None,
    )
    return replace(base, **changes)

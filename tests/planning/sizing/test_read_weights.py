"""Sizes of files that were read on a host, in plans and their digests."""

from typing import Any

import pytest

from deployments.planning.plan import Basis, MemoryPart, Plan
from deployments.planning.sizing.read_weights import weight_sizes_of
from deployments.planning.snapshot import HostSnapshot, ModelSnapshot, WeightSizes
from deployments.planning.text import text
from tests.planning.builders import combined, gpu, plan, shipped

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
DEEPSEEK = "deepseek-ai/DeepSeek-V3.2"
GIB = 1 << 30


def lies(name: str, since: str = "2026-11-30", **sizes: int) -> ModelSnapshot:
    return ModelSnapshot(
        path=f"/data/models/{name}", since=since, weights=WeightSizes(**sizes)
    )


def directory_of(name: str) -> str:
    """The directory of the checkpoint that serves on GPUs."""
    found = (one for one in shipped(name).checkpoints if "nvidia" in one.platforms)
    return next(found).directory


def part(made: Plan, kind: str) -> MemoryPart:
    return next(one for one in made.memory[0].parts if one.kind == kind)


def planned(model: str, *hosts: HostSnapshot, **more: Any) -> Plan:
    names = [host.name for host in hosts]
    return plan(combined(model, *names, **more), *hosts)


def test_read_sizes_take_the_place_of_derived_ones_and_say_who_says_so() -> None:
    name = directory_of(LLAMA)
    read = gpu(models=(lies(name, total=15 * GIB), lies("other", total=GIB)))
    before, after = planned(LLAMA, gpu()), planned(LLAMA, read)
    weights = part(after, "weights")
    ranks = after.memory[0].tensor_parallel_size
    assert weights.basis is Basis.KNOWN
    assert weights.size_bytes == 15 * GIB // ranks
    assert weights.source == "read from the files on gpu-1, 2026-11-30"
    assert part(before, "weights").source != weights.source
    assert before.digest != after.digest
    assert planned(LLAMA, read).digest == after.digest


def test_what_lies_on_a_host_does_not_make_plans_stale() -> None:
    read = gpu(models=(lies("other", total=GIB),))
    assert read.digest == gpu().digest
    assert planned(LLAMA, read).digest == planned(LLAMA, gpu()).digest


def test_a_directory_of_another_root_is_another() -> None:
    read = gpu(model_root="/srv", models=(lies(directory_of(LLAMA), total=GIB),))
    elsewhere = planned(LLAMA, gpu(model_root="/srv"))
    assert planned(LLAMA, read).digest == elsewhere.digest


def test_experts_spread_over_all_devices_and_the_rest_over_a_rank() -> None:
    name = directory_of(DEEPSEEK)
    sizes: dict[str, Any] = {"total": 690 * GIB, "experts": 640 * GIB, "mtp": 10 * GIB}
    read = gpu(
        models=(lies(name, **sizes, mtp_experts=8 * GIB, mtp_embeddings=GIB),),
    )
    made = planned(DEEPSEEK, read)
    memory = made.memory[0]
    tensor = memory.tensor_parallel_size
    devices = tensor * memory.data_parallel_size
    expected = 640 * GIB / devices + 40 * GIB / tensor
    assert part(made, "weights").size_bytes == pytest.approx(expected, rel=0.01)
    assert made.decision.method == "mtp"
    drafter = part(made, "drafter")
    assert drafter.basis is Basis.KNOWN
    assert drafter.size_bytes == pytest.approx(
        8 * GIB / devices + GIB / tensor, rel=0.01
    )


def test_files_without_mtp_layers_close_the_method_that_the_catalog_opens() -> None:
    name = directory_of(DEEPSEEK)
    bare = gpu(models=(lies(name, total=680 * GIB, experts=640 * GIB),))
    made = planned(DEEPSEEK, bare)
    assert made.decision.method != "mtp"
    verdict = next(one for one in made.decision.methods if one.method == "mtp")
    assert "leaves the MTP layers out" in verdict.because


def test_of_two_hosts_the_larger_counts_and_disagreement_leaves_the_catalog() -> None:
    name = directory_of(DEEPSEEK)
    held = lies(name, total=690 * GIB, experts=640 * GIB, mtp=10 * GIB)
    bare = lies(name, total=680 * GIB, experts=640 * GIB)
    hosts = (gpu("gpu-1", models=(bare,)), gpu("gpu-2", models=(held,)))
    made = planned(DEEPSEEK, *hosts)
    assert part(made, "weights").source.startswith("read from the files on gpu-2")
    assert made.decision.method == "mtp"


def test_the_names_of_tensors_tell_experts_and_mtp_layers_apart() -> None:
    sizes = weight_sizes_of(
        {
            "model.layers.0.mlp.shared_experts.up_proj.weight": 3,
            "model.layers.0.block_sparse_moe.experts.0.w1.weight": 5,
            "mtp.layers.0.mlp.experts.0.up_proj.weight": 7,
            "mtp.fc.weight": 11,
            "model.layers.61.shared_head.head.weight": 13,
            "visual.layers.99.weight": 17,
        },
        61,
    )
    assert sizes == WeightSizes(
        total=56, experts=5, mtp=31, mtp_experts=7, mtp_embeddings=13
    )


def test_a_broken_copy_is_said_for_the_host_that_has_it_and_is_not_sized_by() -> None:
    name = directory_of(LLAMA)
    broken = ModelSnapshot(
        path=f"/data/models/{name}", since="2026-11-30", trouble=text("It is cut off")
    )
    made = planned(LLAMA, gpu("gpu-1"), gpu("gpu-2", models=(broken,)))
    (found,) = (one for one in made.findings if one.code == "WEIGHTS_INCOMPLETE")
    assert "On gpu-2 It is cut off" in found.message
    assert part(made, "weights") == part(planned(LLAMA, gpu(), gpu("gpu-2")), "weights")

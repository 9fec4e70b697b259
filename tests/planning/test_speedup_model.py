"""Shapes, devices, step time and drafting cost of the speed model."""

from dataclasses import replace

import pytest

from deployments.planning.catalog import TargetModel, parse_target_model
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.speedup.accelerators import (
    accelerators,
    find_accelerator,
    usual_accelerator,
)
from deployments.planning.speedup.constants import shipped_constants
from deployments.planning.speedup.cost import Case, case_of
from deployments.planning.speedup.drafting import (
    DrafterKind,
    Drafting,
    draft_ms,
    drafting_of,
)
from deployments.planning.speedup.shape import (
    ModelShape,
    published_shapes,
    shape_of_model,
    shape_of_name,
)
from deployments.planning.speedup.step_time import Serving, weight_bytes


def shape(name: str) -> ModelShape:
    found = shape_of_name(name)
    assert found is not None
    return found


def case(
    name: str = "Llama-3.1-8B-Instruct",
    device: str = "H100",
    devices: int = 1,
    kind: DrafterKind = DrafterKind.EAGLE3,
    **serving: float | str | bool,
) -> Case:
    values = {"quantisation": "bf16"} | serving
    found = case_of(
        shape(name),
        Serving(
            accelerator=find_accelerator(device),
            devices=devices,
            **values,  # type: ignore[arg-type]
        ),
        Drafting(kind=kind),
        shipped_constants(),
    )
    assert found is not None
    return found


def entry(**facts: object) -> TargetModel:
    document = {
        "key": "somebody/Unheard-Of",
        "name": "Unheard-Of",
        "family": "none",
        "sources": {},
        "checkpoints": [],
    }
    return parse_target_model(document | facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(published_shapes()))
def test_published_shapes_hold_together(name: str) -> None:
    found = shape(name)
    assert 0 < found.dense_parameters <= found.parameters
    assert found.active_parameters <= found.parameters
    assert found.mixture == (found.active_parameters < found.parameters)


def test_routed_and_dense_parameters_give_total_and_active_back() -> None:
    found = shape("DeepSeek-V3")
    embedding = found.vocabulary_size * found.hidden_size
    assert found.dense_parameters + found.expert_parameters + embedding == (
        pytest.approx(671e9)
    )
    active = found.expert_parameters * 8 / 256
    assert found.dense_parameters + embedding + active == pytest.approx(37e9)


@pytest.mark.parametrize(
    ("name", "tokens", "share"),
    [
        ("gpt-oss-20b", 8, 0.66),
        ("DeepSeek-V3", 32, 0.64),
        ("Kimi-K2-Instruct", 1, 0.02),
    ],
)
def test_tokens_touch_experts_as_independent_draws(
    name: str, tokens: int, share: float
) -> None:
    assert shape(name).experts_share(tokens) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    ("name", "values"),
    [("Llama-3.1-8B-Instruct", 65536), ("DeepSeek-V3", 35136), ("gpt-oss-20b", 12288)],
)
def test_cached_values_of_a_token_follow_the_attention_kind(
    name: str, values: int
) -> None:
    assert shape(name).kv_values == values


def test_a_model_known_by_size_only_is_derived_and_says_so() -> None:
    found = shape_of_model(entry(parameters=70_000_000_000))
    assert found is not None
    assert found.hidden_size == pytest.approx(8192, rel=0.1)
    assert "layers" in found.assumed
    assert "KV heads" in found.assumed


def test_experts_of_a_mixture_known_by_size_only_are_assumed() -> None:
    found = shape_of_model(
        entry(parameters=427_000_000_000, active_parameters=26_000_000_000)
    )
    assert found is not None
    assert found.mixture
    assert 150 < found.experts < 300
    assert "experts" in found.assumed


def test_the_catalog_wins_over_the_published_shape() -> None:
    model = replace(entry(), key="Qwen/Qwen3-32B", layers=10, parameters=5_000_000_000)
    found = shape_of_model(model)
    assert found is not None
    assert (found.layers, found.parameters, found.hidden_size) == (10, 5e9, 5120)


@pytest.mark.parametrize(
    ("attention", "latent", "recurrent", "limit"),
    [
        ({"kind": "mla"}, True, False, None),
        (
            {"kind": "dsa_mla", "kv_lora_rank": 512, "index_topk": 2048},
            True,
            False,
            2048,
        ),
        ({"kind": "hybrid_gdn", "full_attention_interval": 4}, False, True, None),
        ({"kind": "gqa", "kv_heads": 8, "head_dim": 128}, False, False, None),
    ],
)
def test_attention_of_the_catalog_shapes_the_cache(
    attention: dict[str, object], *, latent: bool, recurrent: bool, limit: int | None
) -> None:
    found = shape_of_model(
        entry(parameters=30_000_000_000, layers=40, attention=attention)
    )
    assert found is not None
    assert (found.latent_attention, found.recurrent) == (latent, recurrent)
    assert found.context_read(100_000) == (limit or 100_000)


def test_a_size_is_enough_for_a_model_without_a_published_shape() -> None:
    found = shape_of_name("somebody/Unheard-Of", 8e9)
    assert found is not None
    assert not found.mixture
    assert found.layers == pytest.approx(32, abs=10)


def test_window_layers_of_a_half_and_half_model_keep_no_long_cache() -> None:
    whole, half = (
        shape_of_model(
            entry(parameters=30_000_000_000, layers=layers, attention={"kind": kind})
        )
        for kind, layers in (("gqa", 40), ("gqa_swa", 40))
    )
    assert whole is not None
    assert half is not None
    assert half.kv_values == whole.kv_values / 2


def test_a_model_of_unknown_size_has_no_shape() -> None:
    assert shape_of_model(entry()) is None
    assert shape_of_name("somebody/Unheard-Of") is None


@pytest.mark.parametrize(
    ("name", "key"),
    [("h100", "H100"), ("NVIDIA H100 80GB HBM3", "H100"), ("NVIDIA GB200", "GB200")],
)
def test_devices_are_found_by_the_names_that_drivers_print(name: str, key: str) -> None:
    assert find_accelerator(name).key == key


def test_an_unknown_device_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PlanningError, match="H200"):
        find_accelerator("abacus")


def test_an_unknown_figure_makes_the_time_unknown_not_zero() -> None:
    serving = Serving(
        accelerator=usual_accelerator("cpu"), devices=1, quantisation="bf16"
    )
    drafting = drafting_of(Method.NGRAM)
    assert case_of(shape("Qwen3-8B"), serving, drafting, shipped_constants()) is None


def test_peaks_follow_the_quantisation() -> None:
    h100, a100 = find_accelerator("H100"), find_accelerator("A100")
    assert h100.peak_tflops("fp8") == 1978
    assert h100.peak_tflops("int4") == 989
    assert a100.peak_tflops("fp8") == 312
    assert a100.peak_tflops("w8a8") == 624
    assert all(device.source for device in accelerators())


@pytest.mark.parametrize(
    ("name", "size"), [("BF16", 2.0), ("w4a8c8", 0.58), ("odd", None), (None, None)]
)
def test_weight_bytes_are_unknown_for_unknown_quantisation(
    name: str | None, size: float | None
) -> None:
    assert weight_bytes(name) == size


def test_plain_steps_come_near_published_times() -> None:
    """vllm#20780: 7.07 ms on an H100; AngelSlim, H20: 23.1 ms for 32B, 6.6 ms for 8B."""
    assert case().target.step(1, 1).total_ms == pytest.approx(7.07, rel=0.15)
    h20 = case("Qwen3-32B", "H20").target.step(1, 1).total_ms
    assert h20 == pytest.approx(23.1, rel=0.15)


def test_steps_turn_from_memory_to_compute_bound_with_load() -> None:
    target = case().target
    assert target.step(1, 4).bound == "memory"
    assert target.step(512, 4).bound == "compute"


def test_more_devices_bandwidth_or_smaller_weights_never_slow_a_large_model() -> None:
    slow = case("Llama-3.3-70B-Instruct", devices=2).target.step(1, 1).total_ms
    for better in (
        case("Llama-3.3-70B-Instruct", devices=4),
        case("Llama-3.3-70B-Instruct", "H200", devices=2),
        case("Llama-3.3-70B-Instruct", devices=2, quantisation="fp8"),
    ):
        assert better.target.step(1, 1).total_ms < slow


def test_latent_attention_computes_more_than_it_reads() -> None:
    long = case("DeepSeek-V3", "H200", 8, quantisation="fp8", context_tokens=65536.0)
    short = case("DeepSeek-V3", "H200", 8, quantisation="fp8", context_tokens=1000.0)
    gain = long.target.step(16, 4).compute_ms / short.target.step(16, 4).compute_ms
    assert gain > 5


@pytest.mark.parametrize("kind", list(DrafterKind))
def test_drafting_costs_something_and_never_less_for_more_tokens(
    kind: DrafterKind,
) -> None:
    one = case(kind=kind)
    few, many = (draft_ms(one.drafting, one.target, 4, count) for count in (1, 6))
    assert 0 < few <= many


def test_parallel_drafters_hardly_pay_for_more_tokens_and_chains_do() -> None:
    def growth(kind: DrafterKind) -> float:
        one = case(kind=kind)
        few, many = (draft_ms(one.drafting, one.target, 1, count) for count in (1, 6))
        return many / few

    assert growth(DrafterKind.PARALLEL) < 1.1
    assert growth(DrafterKind.EAGLE3) == pytest.approx(6)


def test_a_drafter_without_captured_graphs_costs_more() -> None:
    captured, eager = case(), case(eager_drafter=True)
    assert eager.cost(1, 3).draft_ms > captured.cost(1, 3).draft_ms
    assert eager.cost(1, 3).verify_ms == captured.cost(1, 3).verify_ms


def test_a_known_draft_model_costs_by_its_own_size() -> None:
    target = case("Qwen3-32B").target
    small = Drafting(kind=DrafterKind.DRAFT_MODEL, drafter=shape("Qwen3-0.6B"))
    large = Drafting(kind=DrafterKind.DRAFT_MODEL, drafter=shape("Qwen3-8B"))
    assert draft_ms(small, target, 1, 3) < draft_ms(large, target, 1, 3)


def test_long_prompts_dilute_the_gain() -> None:
    plain = case().cost(16, 3).speedup(2.8)
    told = case(prompt_tokens=8192, output_tokens=256)
    diluted = told.cost(16, 3).speedup(2.8)
    assert 1 < diluted < plain

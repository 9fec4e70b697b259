"""Each rule speaks when its case is there, and is silent when it is not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from deployments.planning.plan import Plan, Severity
from deployments.planning.planner import make_plan
from deployments.planning.revision import Limits, SpeculationChoice, Workload
from deployments.planning.snapshot import ClusterSettings, ImageSnapshot
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    codes,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
    shipped,
)
from tests.planning.cases import CASES, glm_52

GLM = "zai-org/GLM-5.2"
FLASH = "deepseek-ai/DeepSeek-V4-Flash"
KIMI = "moonshotai/Kimi-K2.6"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
CATEGORIES = frozenset(
    (
        "quoting",
        "unknown-flag",
        "unsupported-method",
        "missing-drafter",
        "draft-loading",
        "missing-weights",
        "missing-package",
        "k-limit",
        "token-budget",
        "batch-limit",
        "cudagraph",
        "ascend-graph",
        "ascend-version",
        "pipeline-parallel",
        "tensor-parallel",
        "data-parallel",
        "async-scheduling",
        "lora",
        "structured-output",
        "tool-calls",
        "disaggregation",
        "memory",
        "port",
        "mount",
        "device",
        "no-metrics",
        "zero-acceptance",
        "low-acceptance",
        "slower-than-baseline",
        "crash",
        "broken-image",
        "control-panel",
        "environment",
        "other",
    )
)


def _flash(count: int | None = None, **more: Any) -> Plan:
    choice = SpeculationChoice(num_speculative_tokens=count)
    return plan(combined(FLASH, "a", speculation=choice, **more), a3("a"))


def _llama(method: str = "auto", count: int | None = None, **more: Any) -> Plan:
    choice = SpeculationChoice(method=method, num_speculative_tokens=count)
    return plan(combined(LLAMA, "gpu-1", speculation=choice, **more), gpu())


def _glm_apart(first: dict[str, Any], second: dict[str, Any], **more: Any) -> Plan:
    spec = apart(GLM, prefill("a", **first), decode("b", **second), **more)
    return plan(spec, a3("a"), a3("b", "10.0.0.2"))


def _kimi_apart(first: int) -> Plan:
    spec = apart(KIMI, prefill("a", num_speculative_tokens=first), decode("b"))
    return plan(spec, a3("a"), a3("b", "10.0.0.2"))


def _gpu_apart(method: str, first: int | None) -> Plan:
    spec = apart(
        LLAMA,
        prefill("gpu-1", num_speculative_tokens=first),
        decode("gpu-2"),
        speculation=SpeculationChoice(method=method),
    )
    return plan(spec, gpu(), gpu("gpu-2"))


def _dspark(count: int | None, prefill_count: int | None = None) -> Plan:
    spec = apart(
        FLASH,
        prefill("gpu-1", num_speculative_tokens=prefill_count),
        decode("gpu-2"),
        checkpoint="fp8-dspark",
        speculation=SpeculationChoice(method="dspark", num_speculative_tokens=count),
    )
    return plan(spec, gpu(), gpu("gpu-2"))


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
SPOKEN: list[tuple[str, Severity, str, Callable[[], Plan]]] = [
    ("METHOD_CLOSED", ERROR, "missing-drafter", lambda: _llama("dflash")),
    ("METHOD_CLOSED", ERROR, "missing-weights", lambda: _llama("mtp")),
    ("METHOD_CLOSED", ERROR, "missing-package", lambda: _llama("suffix")),
    (
        "METHOD_CLOSED",
        ERROR,
        "unsupported-method",
        lambda: _llama("medusa", engine="vllm==0.33.0"),
    ),
    ("ASYNC_SCHEDULING_OFF", INFO, "async-scheduling", lambda: _llama("ngram")),
    ("SPECULATION_OFF", INFO, "other", lambda: _llama("off")),
    ("COUNT_ABOVE_KERNEL_LIMIT", ERROR, "k-limit", lambda: _flash(16)),
    ("COUNT_BELOW_METHOD_LIMIT", ERROR, "k-limit", lambda: _dspark(3)),
    ("MTP_LAYER_REUSED", WARNING, "k-limit", lambda: _flash(5)),
    ("MTP_LAYER_REUSED", INFO, "k-limit", glm_52),
    ("COUNT_CLAIM_NOT_FOLLOWED", INFO, "k-limit", _flash),
    ("COUNTS_DIFFER_ACROSS_ROLES", ERROR, "disaggregation", lambda: _dspark(7, 5)),
    (
        "PREFILL_DRAFTS_IN_VAIN",
        WARNING,
        "disaggregation",
        lambda: _glm_apart({"num_speculative_tokens": 3}, {}),
    ),
    ("DRAFTER_RUNS_EAGER", INFO, "ascend-graph", glm_52),
    (
        "CAPTURE_SIZES_NOT_MULTIPLES",
        WARNING,
        "cudagraph",
        lambda: _llama(
            count=3, extra_flags=(("--cudagraph-capture-sizes", "1,2,4,64"),)
        ),
    ),
    (
        "CAPTURE_SIZES_NOT_MULTIPLES",
        ERROR,
        "cudagraph",
        lambda: _llama(count=3, extra_flags=(("--cudagraph-capture-sizes", "1,2,3"),)),
    ),
    (
        "CAPTURE_COVERAGE_SHORT",
        WARNING,
        "cudagraph",
        lambda: _llama(count=3, limits=Limits(max_num_seqs=256)),
    ),
    (
        "CAPTURE_COVERAGE_SHORT",
        WARNING,
        "cudagraph",
        lambda: _llama(count=3, extra_flags=(("--max-cudagraph-capture-size", "32"),)),
    ),
    (
        "BATCHED_TOKENS_SHORT",
        WARNING,
        "token-budget",
        lambda: _llama(
            count=3, limits=Limits(max_num_seqs=64, max_num_batched_tokens=128)
        ),
    ),
    (
        "BATCHED_TOKENS_SHORT",
        ERROR,
        "token-budget",
        lambda: _llama(count=3, limits=Limits(max_num_batched_tokens=2)),
    ),
    (
        "LENGTH_ABOVE_CONTEXT",
        ERROR,
        "token-budget",
        lambda: _llama(limits=Limits(max_model_len=200_000)),
    ),
    (
        "LENGTH_BELOW_WORKLOAD",
        WARNING,
        "token-budget",
        lambda: _llama(limits=Limits(max_model_len=1024)),
    ),
    (
        "BATCH_BELOW_CONCURRENCY",
        WARNING,
        "batch-limit",
        lambda: _llama(limits=Limits(max_num_seqs=8)),
    ),
    (
        "DRAFTER_ON_ONE_SIDE",
        ERROR,
        "disaggregation",
        lambda: _glm_apart({"num_speculative_tokens": 0}, {}),
    ),
    ("DRAFTER_ON_ONE_SIDE", WARNING, "disaggregation", lambda: _kimi_apart(0)),
    ("DRAFTER_ON_ONE_SIDE", ERROR, "disaggregation", lambda: _gpu_apart("eagle3", 0)),
    (
        "PREFILL_TENSOR_PARALLEL",
        ERROR,
        "disaggregation",
        lambda: _glm_apart({"tensor_parallel_size": 4}, {"tensor_parallel_size": 16}),
    ),
    ("ROUTER_PLANNED", INFO, "disaggregation", glm_52),
    (
        "KV_CONNECTOR_TOO_NEW",
        ERROR,
        "disaggregation",
        lambda: plan(
            apart(LLAMA, prefill("gpu-1"), decode("gpu-2"), engine="vllm==0.8.5"),
            gpu(),
            gpu("gpu-2"),
        ),
    ),
    (
        "NO_KV_CONNECTOR",
        ERROR,
        "disaggregation",
        lambda: plan(apart(LLAMA, prefill("x"), decode("y")), cpu("x"), cpu("y")),
    ),
    (
        "DEVICES_INSUFFICIENT",
        ERROR,
        "device",
        lambda: plan(combined(FLASH, "a"), a3("a", taken_devices=(3,))),
    ),
    (
        "PORT_TAKEN",
        ERROR,
        "port",
        lambda: plan(
            apart(LLAMA, prefill("gpu-1", port=9000), decode("gpu-2")),
            gpu(taken_ports=(9000,)),
            gpu("gpu-2"),
        ),
    ),
    (
        "HOST_ADDRESS_UNKNOWN",
        ERROR,
        "environment",
        lambda: plan(apart(GLM, prefill("a"), decode("b")), a3("a", None), a3("b")),
    ),
    (
        "HOST_INTERFACE_UNKNOWN",
        WARNING,
        "environment",
        lambda: plan(
            apart(GLM, prefill("a"), decode("b")),
            a3("a", interface=None),
            a3("b"),
            files_only=True,
        ),
    ),
    (
        "HEAD_ADDRESS_UNKNOWN",
        ERROR,
        "environment",
        lambda: plan(combined(GLM, "a", "b"), a3("a", None), a3("b")),
    ),
    (
        "MODEL_ROOT_UNKNOWN",
        ERROR,
        "mount",
        lambda: plan(combined(LLAMA, "gpu-1"), gpu(model_root=None)),
    ),
    (
        "MODEL_ROOT_NOT_ALLOWED",
        ERROR,
        "mount",
        lambda: plan(
            combined(LLAMA, "gpu-1"), gpu(), model_roots=("/srv/models", "/mnt")
        ),
    ),
    ("IMAGE_UNRESOLVED", INFO, "broken-image", _llama),
    ("BEYOND_CONTAINER_FLOOR", INFO, "environment", _flash),
    (
        "BELOW_DOCUMENTED_HARDWARE",
        ERROR,
        "memory",
        lambda: plan(combined("deepseek-ai/DeepSeek-V4-Pro", "a"), a3("a")),
    ),
    ("LAYOUT_ASSUMED", INFO, "tensor-parallel", _llama),
    (
        "PRACTICE_IMAGE",
        INFO,
        "control-panel",
        lambda: plan(combined(GLM, "local", image=PRACTICE), cpu()),
    ),
]


@pytest.mark.parametrize(("code", "severity", "category", "make"), SPOKEN)
def test_rule_speaks(
    code: str, severity: Severity, category: str, make: Callable[[], Plan]
) -> None:
    made = make()
    found = [one for one in made.findings if one.code == code]
    assert [(one.severity, one.category) for one in found[:1]] == [(severity, category)]
    assert made.can_submit == all(one.severity is not ERROR for one in made.findings)


def _resolved() -> Plan:
    image = ImageSnapshot(
        reference="vllm/vllm-openai:v0.32.0", image_id="sha256:1", digest="sha256:2"
    )
    return plan(combined(LLAMA, "gpu-1"), gpu(images=(image,)))


SILENT: list[tuple[str, Callable[[], Plan]]] = [
    ("COUNT_ABOVE_KERNEL_LIMIT", lambda: _flash(15)),
    ("MTP_LAYER_REUSED", _flash),
    ("COUNT_CLAIM_NOT_FOLLOWED", lambda: _flash(5)),
    ("PREFILL_DRAFTS_IN_VAIN", glm_52),
    ("COUNTS_DIFFER_ACROSS_ROLES", lambda: _dspark(7)),
    ("DRAFTER_ON_ONE_SIDE", glm_52),
    ("DRAFTER_ON_ONE_SIDE", lambda: _gpu_apart("ngram", None)),
    ("PREFILL_TENSOR_PARALLEL", glm_52),
    ("CAPTURE_COVERAGE_SHORT", lambda: _llama(count=3)),
    (
        "CAPTURE_SIZES_NOT_MULTIPLES",
        lambda: _llama(count=3, extra_flags=(("--cudagraph-capture-sizes", "4 8 64"),)),
    ),
    ("BATCHED_TOKENS_SHORT", glm_52),
    ("IMAGE_UNRESOLVED", _resolved),
    (
        "MODEL_ROOT_NOT_ALLOWED",
        lambda: plan(combined(LLAMA, "gpu-1"), gpu(), model_roots=("/data",)),
    ),
    ("HOST_ADDRESS_UNKNOWN", lambda: plan(combined(LLAMA, "gpu-1"), gpu(address=None))),
    ("LAYOUT_ASSUMED", glm_52),
    (
        "BEYOND_CONTAINER_FLOOR",
        lambda: plan(combined(GLM, "local", image=PRACTICE), cpu()),
    ),
]


@pytest.mark.parametrize(("code", "make"), SILENT)
def test_rule_is_silent(code: str, make: Callable[[], Plan]) -> None:
    assert code not in codes(make())


@pytest.mark.parametrize("make", [*CASES.values(), *(row[3] for row in SPOKEN)])
def test_every_finding_has_category_reason_fix_and_source(
    make: Callable[[], Plan],
) -> None:
    for finding in make().findings:
        assert finding.category in CATEGORIES
        assert finding.message.endswith((".", "?"))
        assert finding.fix
        assert finding.source


def test_findings_come_errors_first() -> None:
    severities = [one.severity for one in _flash(16).findings]
    assert severities == sorted(severities, key=[ERROR, WARNING, INFO].index)


def test_long_requests_against_a_short_context_ask_for_another_model() -> None:
    made = plan(
        combined("Qwen/Qwen3-32B", "gpu-1", workload=Workload(input_tokens=60_000)),
        gpu(),
    )
    finding = next(one for one in made.findings if one.code == "LENGTH_BELOW_WORKLOAD")
    assert finding.fix == "Choose a model with a longer context."


def test_engine_older_than_the_model_is_an_error() -> None:
    newer = replace(shipped(LLAMA), minimum_engines={"vllm": "0.40.0"})
    made = make_plan(combined(LLAMA, "gpu-1"), newer, [gpu()], ClusterSettings())
    finding = next(one for one in made.findings if one.code == "ENGINE_TOO_OLD")
    assert finding.severity is ERROR
    assert "needs vllm 0.40.0 or later" in finding.message


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("{not json", False),
        ("[1]", False),
        ('{"cudagraph_capture_sizes":[1,2,8]}', True),
        ('{"cudagraph_capture_sizes":"all"}', False),
    ],
)
def test_capture_sizes_are_read_from_a_persons_compilation_config(
    config: str, *, told: bool
) -> None:
    made = _llama(count=3, extra_flags=(("--compilation-config", config),))
    assert ("CAPTURE_SIZES_NOT_MULTIPLES" in codes(made)) is told


def test_count_that_the_mtp_layers_do_not_divide_is_an_error() -> None:
    three = replace(shipped(GLM), mtp_layers=3)

    def made(count: int) -> set[str]:
        choice = SpeculationChoice(num_speculative_tokens=count)
        spec = combined(GLM, "gpu-1", checkpoint="fp8", speculation=choice)
        return codes(make_plan(spec, three, [gpu()], ClusterSettings()))

    assert "COUNT_NOT_DIVISIBLE" in made(5)
    assert "COUNT_NOT_DIVISIBLE" not in made(6) | made(2)


def test_documented_need_of_a_platform_replaces_the_published_sum() -> None:
    made = plan(combined(GLM, "a", checkpoint="bf16"), a3("a"))
    assert "BELOW_DOCUMENTED_HARDWARE" in codes(made)
    assert "MEMORY_BELOW_MINIMUM" not in codes(made)


def test_model_that_nobody_knows_to_have_mtp_gets_no_word_on_its_weights() -> None:
    unknown = replace(shipped(GLM), has_mtp=None)
    choice = SpeculationChoice(method="mtp")
    spec = combined(GLM, "gpu-1", checkpoint="nvfp4", speculation=choice)
    made = make_plan(spec, unknown, [gpu()], ClusterSettings())
    assert "METHOD_CLOSED" in codes(made)
    assert "MTP_WEIGHTS_UNCHECKED" not in codes(made)

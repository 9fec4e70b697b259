"""Each rule over the speculative config: one launch that it is about, and a near miss."""

import pytest

from deployments.planning.rules.launch.lint import LintReport
from tests.planning.rules_launch.judging import (
    codes,
    eagle3,
    judged,
    mtp,
    ngram,
    on_ascend,
    serve,
)

QWEN25 = "Qwen/Qwen2.5-72B-Instruct"
CONFIG = "--speculative-config"
Case = tuple[str, LintReport, LintReport]


def _cases() -> list[Case]:
    return [
        (
            "SPEC_JSON_INVALID",
            judged(f"vllm serve M {CONFIG} {{method:mtp}}"),
            judged(mtp()),
        ),
        (
            "FLAG_JSON_INVALID",
            judged("vllm serve M --hf-overrides \"{'a': 1}\""),
            judged("vllm serve M --hf-overrides '{\"a\": 1}'"),
        ),
        (
            "VARIABLE_IN_SINGLE_QUOTES",
            judged("HEAD=/m/h\n" + eagle3(target="M", revision="$HEAD")),
            judged(eagle3()),
        ),
        (
            "SPEC_KEY_UNKNOWN",
            judged(ngram(disable_by_batch_size=8), "0.20.0"),
            judged(ngram(disable_by_batch_size=8), "0.8.5"),
        ),
        (
            "SPEC_KEY_KIND",
            judged(eagle3(draft_tensor_parallel_size=[1])),
            judged(eagle3(draft_tensor_parallel_size=1)),
        ),
        (
            "DRAFT_EAGER_WITHOUT_EFFECT",
            judged(mtp(enforce_eager=True), "0.30.0"),
            judged(mtp(enforce_eager=True), "0.20.0"),
        ),
        (
            "DRAFT_QUANTISATION_IGNORED",
            on_ascend(mtp(quantization="ascend")),
            judged(mtp(quantization="fp8")),
        ),
        (
            "SYNTHETIC_ACCEPTANCE",
            judged(mtp(rejection_sample_method="synthetic"), "0.32.0"),
            judged(mtp(rejection_sample_method="standard"), "0.32.0"),
        ),
        (
            "METHOD_UNKNOWN",
            judged(
                serve(method="EAGLE3", model="o/h-eagle3", num_speculative_tokens=3)
            ),
            judged(eagle3()),
        ),
        (
            "METHOD_NOT_IN_VERSION",
            judged(mtp(), "0.10.2"),
            judged(mtp(), "0.11.0"),
        ),
        (
            "METHOD_SPELLING_OLD",
            judged(serve(method="deepseek_mtp", num_speculative_tokens=1), "0.20.0"),
            judged(serve(method="deepseek_mtp", num_speculative_tokens=1), "0.9.2"),
        ),
        (
            "METHOD_NOT_GIVEN",
            judged(
                serve(target="M")
                + f' {CONFIG} \'{{"model":"o/d","num_speculative_tokens":2}}\''
            ),
            judged(
                serve(method="draft_model", num_speculative_tokens=2)
                + f" {CONFIG}.model o/d"
            ),
        ),
        (
            "OLD_MODEL_NAME",
            judged(
                "vllm serve M --speculative-model [gram] --num-speculative-tokens 5"
            ),
            judged(
                "vllm serve M --speculative-model [ngram] --num-speculative-tokens 5"
            ),
        ),
        (
            "MODEL_RUNNER_REFUSES_METHOD",
            judged("VLLM_USE_V2_MODEL_RUNNER=1 " + serve(method="suffix"), "0.32.0"),
            judged("VLLM_USE_V2_MODEL_RUNNER=1 " + mtp(), "0.32.0"),
        ),
        (
            "SPECULATORS_NOT_READ",
            judged("vllm serve org/Llama-speculator.eagle3", "0.10.2"),
            judged("vllm serve org/Llama-speculator.eagle3", "0.11.0"),
        ),
        (
            "SPECULATION_IN_NAME_ONLY",
            judged(serve(num_speculative_tokens=3)),
            judged(mtp()),
        ),
        (
            "DRAFTER_MISSING",
            judged(serve(method="eagle3", num_speculative_tokens=3)),
            judged(eagle3()),
        ),
        (
            "EAGLE_METHOD_FOR_EAGLE3",
            judged(
                serve(method="eagle", num_speculative_tokens=2)
                + f" {CONFIG}.model o/Qwen3-4B_eagle3"
            ),
            judged(
                serve(method="eagle", num_speculative_tokens=2)
                + f" {CONFIG}.model o/EAGLE-llama"
            ),
        ),
        (
            "EAGLE3_METHOD_FOR_EAGLE",
            judged(
                eagle3(target="M").replace(
                    "org/head-eagle3", "yuhuili/EAGLE-LLaMA3-Instruct-8B"
                )
            ),
            judged(
                eagle3().replace("org/head-eagle3", "yuhuili/EAGLE3-LLaMA3-Instruct-8B")
            ),
        ),
        ("EAGLE3_EARLY", judged(eagle3(), "0.9.0"), judged(eagle3(), "0.9.1")),
        (
            "PACKAGE_NEEDED",
            judged(serve(method="suffix"), "0.20.0"),
            judged(
                "pip install arctic-inference==0.1.1\n" + serve(method="suffix"),
                "0.20.0",
            ),
        ),
        (
            "VOCABULARY_DIFFERS",
            judged(_draft("Qwen/Qwen2.5-0.5B-Instruct", QWEN25), "0.16.0"),
            judged(_draft("Qwen/Qwen2.5-7B-Instruct", QWEN25), "0.16.0"),
        ),
        (
            "DRAFT_TARGET_FAMILY",
            judged(_draft("meta-llama/Llama-3.2-1B", QWEN25), "0.20.0"),
            judged(_draft("Qwen/Qwen2.5-7B", QWEN25), "0.20.0"),
        ),
        (
            "EAGLE3_TARGET_UNSUPPORTED",
            judged(eagle3(target="zai-org/GLM-4.6"), "0.32.0"),
            judged(mtp(target="zai-org/GLM-4.6"), "0.32.0"),
        ),
        (
            "MTP_NOT_IN_MODEL",
            judged(mtp(target="meta-llama/Llama-3.1-8B-Instruct")),
            judged(mtp(target="deepseek-ai/DeepSeek-V3.2")),
        ),
        (
            "MTP_ASSISTANT_MISSING",
            judged(mtp(target="google/gemma-4-31B-it"), "0.32.0"),
            judged(_assistant(), "0.32.0"),
        ),
        (
            "MTP_LEFT_OUT",
            judged(mtp(target="org/GLM-4.7-W8A8-no-mtp")),
            judged(mtp(target="Eco-Tech/GLM-4.7-W8A8-floatmtp")),
        ),
        (
            "MTP_QUANTISATION_RISK",
            judged(mtp(target="amd/GLM-4.7-MXFP4")),
            judged(mtp(target="org/Qwen3.6-27B-AWQ-MTP")),
        ),
        ("COUNT_MISSING", judged(serve(method="mtp")), judged(serve(method="suffix"))),
        ("COUNT_NOT_POSITIVE", judged(mtp(count=0)), judged(mtp(count=1))),
        (
            "COUNT_ABOVE_KERNEL_LIMIT",
            on_ascend(mtp(count=16)),
            on_ascend(mtp(count=15)),
        ),
        (
            "COUNT_BELOW_METHOD_LIMIT",
            on_ascend(serve(method="dspark", num_speculative_tokens=4)),
            on_ascend(serve(method="dspark", num_speculative_tokens=5)),
        ),
        (
            "MTP_LAYER_REUSED",
            judged(mtp(target="zai-org/GLM-5.2")),
            judged(mtp(target="zai-org/GLM-5.2", count=1)),
        ),
        ("COUNT_HIGH", judged(mtp(count=13)), judged(mtp(count=8))),
        (
            "NGRAM_LOOKUP_LONG",
            judged(ngram(prompt_lookup_max=500)),
            judged(ngram(prompt_lookup_max=10)),
        ),
        (
            "NGRAM_LOOKUP_ORDER",
            judged(ngram(prompt_lookup_min=4, prompt_lookup_max=2)),
            judged(ngram(prompt_lookup_min=2, prompt_lookup_max=4)),
        ),
        (
            "NGRAM_SMALL_TARGET",
            judged(ngram(target="Qwen1.5-1.8B-Chat", count=8)),
            judged(ngram(target="Qwen1.5-72B-Chat", count=8)),
        ),
        (
            "HIDDEN_STATES_COUNT",
            judged(serve(method="extract_hidden_states", num_speculative_tokens=2)),
            judged(serve(method="extract_hidden_states", num_speculative_tokens=1)),
        ),
        (
            "OLD_SPECULATIVE_FLAGS",
            judged(
                "vllm serve M --speculative-model D --num-speculative-tokens 5", "0.8.5"
            ),
            judged(_draft("D", "M"), "0.8.5"),
        ),
        (
            "SPECULATION_GIVEN_TWICE",
            judged(mtp("--spec-method mtp"), "0.32.0"),
            judged("vllm serve M --spec-method mtp --spec-tokens 2", "0.32.0"),
        ),
        (
            "SHORTCUT_NOT_IN_VERSION",
            judged("vllm serve M --spec-method mtp --spec-tokens 2", "0.20.0"),
            judged("vllm serve M --spec-method mtp --spec-tokens 2", "0.23.0"),
        ),
    ]


def _draft(drafter: str, target: str) -> str:
    return serve(target=target, method="draft_model", num_speculative_tokens=5).replace(
        '"method"', f'"model": "{drafter}", "method"'
    )


def _assistant() -> str:
    return mtp(target="google/gemma-4-31B-it").replace(
        '"method"', '"model": "google/gemma-4-31B-it-assistant", "method"'
    )


@pytest.mark.parametrize(
    ("code", "fires", "misses"),
    _cases(),
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_rule_fires_on_its_case_and_not_on_the_near_miss(
    code: str, fires: LintReport, misses: LintReport
) -> None:
    assert code in codes(fires)
    assert code not in codes(misses)


COVERED = frozenset(code for code, _fires, _misses in _cases())

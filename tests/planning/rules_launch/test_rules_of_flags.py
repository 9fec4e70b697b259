"""Each rule over flags, graphs, budgets and sizes: one launch that it is about, and a near miss."""

from dataclasses import replace
from typing import Any

import pytest

from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.lint import LintReport, lint
from tests.planning.builders import all_shipped
from tests.planning.rules_launch.judging import (
    codes,
    eagle3,
    extra,
    graphs,
    judged,
    mtp,
    ngram,
    on_ascend,
    serve,
)

GLM = "zai-org/GLM-5.2"
Case = tuple[str, LintReport, LintReport]


def _three_layers() -> KnownModels:
    glm = next(one for one in all_shipped() if one.key == GLM)
    return KnownModels((replace(glm, mtp_layers=3),))


def _with_heads() -> KnownModels:
    found = next(one for one in all_shipped() if one.attention is not None)
    assert found.attention is not None
    return KnownModels(
        (replace(found, key=GLM, attention=replace(found.attention, heads=48)),)
    )


def _flags() -> list[Case]:
    return [
        (
            "FLAG_AND_VALUE_IN_ONE_WORD",
            judged("vllm serve M '--max-model-len 8192'"),
            judged("vllm serve M '--max-model-len=8192'"),
        ),
        (
            "FLAG_UNKNOWN",
            judged("vllm serve M --tensor-paralel-size 4"),
            judged("vllm serve M --tensor_parallel_size 4"),
        ),
        (
            "FLAG_NOT_IN_VERSION",
            judged("vllm serve M --task generate", "0.20.0"),
            judged("vllm serve M --task generate", "0.9.1"),
        ),
        (
            "FLAG_WITHOUT_VALUE",
            judged("vllm serve M --port --trust-remote-code"),
            judged("vllm serve M --port 8000"),
        ),
        (
            "FLAG_REPEATED",
            judged("vllm serve M --port 1 --port 2"),
            judged("vllm serve M --port 1"),
        ),
        (
            "CHOICE_UNKNOWN",
            judged("vllm serve M --load-format safetensor", "0.10.0"),
            judged("vllm serve M --load-format safetensors", "0.10.0"),
        ),
        (
            "COUNT_NOT_DIVISIBLE",
            lint(mtp(target=GLM, count=4), None, _three_layers()),
            lint(mtp(target=GLM, count=6), None, _three_layers()),
        ),
    ]


def _graphs() -> list[Case]:
    step = (
        r"--- output ---"
        "\nassert (m.num_reqs * (self.num_spec + 1) <= m.num_actual_tokens"
    )
    by_batch: dict[str, Any] = {
        "num_speculative_tokens_per_batch_size": [[1, 8, 3], [9, 32, 0]]
    }
    return [
        (
            "CAPTURE_SIZES_NOT_MULTIPLES",
            on_ascend(
                mtp("--max-num-seqs 4 " + graphs(cudagraph_capture_sizes=[2, 16]))
            ),
            on_ascend(
                mtp("--max-num-seqs 4 " + graphs(cudagraph_capture_sizes=[4, 16]))
            ),
        ),
        (
            "CAPTURE_COVERAGE_SHORT",
            judged(mtp("--max-num-seqs 6 --max-cudagraph-capture-size 16")),
            judged(mtp("--max-num-seqs 6 --max-cudagraph-capture-size 24")),
        ),
        (
            "CAPTURE_OFF_GRID",
            judged(mtp("--max-num-seqs 6 --max-cudagraph-capture-size 42", count=6)),
            judged(mtp("--max-num-seqs 6 --max-cudagraph-capture-size 48", count=7)),
        ),
        (
            "CAPTURE_OFF_GRID",
            on_ascend(serve("--max-num-seqs 12 " + graphs())),
            on_ascend(serve("--max-num-seqs 16 " + graphs())),
        ),
        (
            "CAPTURE_SHARES_NO_SIZE",
            judged(eagle3("-tp 4", count=2), "0.11.1"),
            judged(eagle3("-tp 4", count=3), "0.11.1"),
        ),
        (
            "CAPTURE_SHARES_NO_SIZE",
            judged(eagle3("-tp 4", count=2), "0.11.2"),
            judged(eagle3("-tp 4", count=2), "0.12.0"),
        ),
        (
            "QWEN3_NEXT_TWO_TOKENS",
            judged(
                mtp(target="Qwen/Qwen3-Next-80B-A3B-Instruct", count=2) + "\n" + step
            ),
            judged(mtp(target="Qwen/Qwen3-Next-80B-A3B-Instruct", count=2)),
        ),
        (
            "COUNT_BY_BATCH_SLOW",
            on_ascend(mtp(graphs(), **by_batch)),
            on_ascend(mtp(graphs("PIECEWISE"), **by_batch)),
        ),
        (
            "UNPADDED_DRAFTS_IN_GRAPH",
            on_ascend(mtp(graphs(), disable_padded_drafter_batch=True)),
            on_ascend(
                mtp(graphs(), disable_padded_drafter_batch=True, enforce_eager=True)
            ),
        ),
        (
            "GRAPH_WITH_BLOCKING_LAUNCHES",
            on_ascend("ASCEND_LAUNCH_BLOCKING=1 vllm serve M"),
            on_ascend("ASCEND_LAUNCH_BLOCKING=1 vllm serve M --enforce-eager"),
        ),
        (
            "LARGE_GRID_SHARES_NO_RANKS",
            on_ascend(
                serve(
                    "-tp 8 "
                    + graphs(cudagraph_capture_sizes=[4, 12])
                    + " "
                    + extra(enable_dsa_cp=True)
                )
            ),
            on_ascend(
                serve(
                    "-tp 8 "
                    + graphs(cudagraph_capture_sizes=[4, 16])
                    + " "
                    + extra(enable_dsa_cp=True)
                )
            ),
        ),
    ]


def _budgets() -> list[Case]:
    lora = "--enable-lora --max-num-seqs 8 --max-num-batched-tokens"
    return [
        (
            "BATCHED_TOKENS_SHORT",
            judged(mtp("--max-num-seqs 8 --max-num-batched-tokens 31")),
            judged(mtp("--max-num-seqs 8 --max-num-batched-tokens 32")),
        ),
        (
            "SCHEDULED_TOKENS_NEGATIVE",
            judged(_dflash(), "0.26.0"),
            judged(
                _dflash("--max-num-batched-tokens 8192 --max-num-seqs 64"), "0.26.0"
            ),
        ),
        ("LORA_BUDGET_SHORT", judged(ngram(f"{lora} 31")), judged(ngram(f"{lora} 32"))),
        (
            "BATCH_SMALL_FOR_OLD_ENGINE",
            judged(
                "vllm serve M --max-num-seqs 8 --speculative-model D --num-speculative-tokens 4",
                "0.4.3",
            ),
            judged(
                "vllm serve M --max-num-seqs 9 --speculative-model D --num-speculative-tokens 4",
                "0.4.3",
            ),
        ),
        (
            "LENGTH_ABOVE_CONTEXT",
            judged(f"vllm serve {GLM} --max-model-len 2M"),
            judged(f"vllm serve {GLM} --max-model-len 1M"),
        ),
        (
            "DRAFT_LENGTH_ABOVE_TARGET",
            judged(eagle3("--max-model-len 4096", max_model_len=8192)),
            judged(eagle3("--max-model-len 8192", max_model_len=8192)),
        ),
        (
            "CHUNKING_OFF_BUDGET_SHORT",
            judged(
                "vllm serve M --no-enable-chunked-prefill --max-num-batched-tokens 2048 --max-model-len 4096"
            ),
            judged(
                "vllm serve M --no-enable-chunked-prefill --max-num-batched-tokens 4096 --max-model-len 4096"
            ),
        ),
    ]


def _dflash(flags: str = "") -> str:
    return serve(flags, method="dflash", model="org/dflash", num_speculative_tokens=16)


def _sizes() -> list[Case]:
    small = serve(
        "-tp 4",
        method="draft_model",
        model="o/d",
        num_speculative_tokens=3,
        draft_tensor_parallel_size=1,
    )
    return [
        ("SPECULATION_WITH_PIPELINE", judged(mtp("-pp 2")), judged(mtp("-tp 2"))),
        (
            "DRAFT_RANKS_ODD",
            judged(eagle3("-tp 4", draft_tensor_parallel_size=2)),
            judged(eagle3("-tp 4", draft_tensor_parallel_size=4)),
        ),
        (
            "DRAFT_MODEL_RANKS_DIFFER",
            judged(small, "0.20.0"),
            judged(small.replace("-tp 4", "-tp 1"), "0.20.0"),
        ),
        (
            "DEVICES_TOO_FEW",
            judged("CUDA_VISIBLE_DEVICES=0,1 vllm serve M -tp 4"),
            judged("CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve M -tp 4"),
        ),
        (
            "HEADS_NOT_DIVISIBLE",
            lint(serve("-tp 7", GLM), None, _with_heads()),
            lint(serve("-tp 8", GLM), None, _with_heads()),
        ),
        (
            "PARALLEL_SIZE_ODD",
            judged("vllm serve M -tp 0"),
            judged("vllm serve M -tp $TP"),
        ),
        (
            "ASYNC_SCHEDULING_REFUSED",
            judged(ngram("--async-scheduling"), "0.30.0"),
            judged(mtp("--async-scheduling"), "0.30.0"),
        ),
        ("ASYNC_SCHEDULING_OFF", judged(ngram(), "0.30.0"), judged(mtp(), "0.30.0")),
        (
            "UNPADDED_DRAFTS_ASYNC",
            judged(mtp("--async-scheduling", disable_padded_drafter_batch=True)),
            judged(mtp("--no-async-scheduling", disable_padded_drafter_batch=True)),
        ),
        (
            "TOOL_PARSER_MISSING",
            judged("vllm serve M --enable-auto-tool-choice"),
            judged("vllm serve M --enable-auto-tool-choice --tool-call-parser hermes"),
        ),
        (
            "TOOL_CALLS_CUT",
            on_ascend(mtp(target="glm5"), "0.17.0rc1"),
            on_ascend(mtp(target="glm5", count=1), "0.17.0rc1"),
        ),
        (
            "NGRAM_WITH_TOOL_CALLS",
            judged(ngram("--enable-auto-tool-choice --tool-call-parser hermes")),
            judged(
                ngram(
                    "--enable-auto-tool-choice --tool-call-parser hermes",
                    prompt_lookup_min=8,
                    prompt_lookup_max=8,
                )
            ),
        ),
        (
            "FAST_PREFILL_WITH_EAGLE",
            judged(mtp("--kv-sharing-fast-prefill")),
            judged(ngram("--kv-sharing-fast-prefill")),
        ),
        (
            "LOGITS_PROCESSORS_WITH_SPECULATION",
            judged(mtp("--logits-processors a.B")),
            judged(serve("--logits-processors a.B")),
        ),
        (
            "OVERLAP_WITH_SPECULATION",
            judged(mtp("--enable-dbo")),
            judged(serve("--enable-dbo")),
        ),
        (
            "ADAPTIVE_WITH_LORA",
            judged(
                serve(
                    "--enable-lora", method="dspark", enable_adaptive_verification=True
                )
            ),
            judged(serve(method="dspark", enable_adaptive_verification=True)),
        ),
    ]


CASES = [*_flags(), *_graphs(), *_budgets(), *_sizes()]


@pytest.mark.parametrize(
    ("code", "fires", "misses"),
    CASES,
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_rule_fires_on_its_case_and_not_on_the_near_miss(
    code: str, fires: LintReport, misses: LintReport
) -> None:
    assert code in codes(fires)
    assert code not in codes(misses)


COVERED = frozenset(code for code, _fires, _misses in CASES)

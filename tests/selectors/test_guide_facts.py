"""Every method, rule, pitfall and number of the field guide stands in both languages."""

import pytest

from tests.guide_text import LANGUAGES, SLUGS, body, plain, words_of

FACTS: dict[str, tuple[str, ...]] = {
    "why": (
        "50 %",
        "HBM",
        "num_speculative_tokens",
        "70-85 %",
        "3-5",
        "1.5-2.5x",
    ),
    "methods": (
        "draft_model",
        "1.5-2.0x",
        "eagle3",
        "1.8-2.5x",
        "Kimi",
        "Mistral",
        "MiniMax",
        "deepseek_mtp",
        "1.3-1.8x",
        "GLM-5",
        "DeepSeek-V3",
        "DeepSeek-V4",
        "ngram",
        "1.1-1.3x",
        "medusa",
        "1.3-1.7x",
        "mlp_speculator",
        "1.2-1.5x",
        "suffix",
        "dflash",
        "dspark",
        "80-90 %",
        "1-5",
        "75-85 %",
        "1-5 GB",
        '{"num_speculative_tokens": 3, "method": "deepseek_mtp"}',
        'EAGLE_PATH="/models/kimi-k2.6-eagle3"',
        "vllm serve Qwen/Qwen3-72B",
        '"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":5',
    ),
    "parameters": (
        "3-5",
        "enforce_eager",
        '"enforce_eager": true',
        "CUDA graph does not support speculative decoding with MTP",
        "CANN",
        "--enforce-eager",
        "max_num_batched_tokens",
    ),
    "disaggregation": ("max_tokens=1", "GLM-5.2", "KV", "28000", "36000"),
    "ascend": (
        "vllm serve /workspace/GLM-5.2-w8a8",
        '{"num_speculative_tokens": 1, "method":"deepseek_mtp", "enforce_eager": true}',
        '{"num_speculative_tokens": 3, "method":"deepseek_mtp", "enforce_eager": true}',
        "vllm serve /workspace/Kimi-K2.6-w8a8",
        '"model":"\'"$EAGLE_PATH"\'","num_speculative_tokens":3',
        "/data/models/Kimi-K2.6/kimi-k2.6-eagle3:/models/kimi-k2.6-eagle3",
        "vllm serve /workspace/DeepSeek-V4-Flash-w8a8-mtp",
        '{"num_speculative_tokens": 5, "method": "deepseek_mtp"}',
        "max_tokens=1",
    ),
    "verification": (
        "Enabling speculative decoding with method deepseek_mtp, num_speculative_tokens=3",
        "speculative_config=SpeculativeConfig(method=",
        "vllm serve /model --max-num-seqs 256",
        "python3 -m vllm.benchmarks.benchmark_serving",
        "--dataset-name sharegpt --num-prompts 100",
        "vllm bench serve",
        "QPS",
        "1.5-2.5x",
        "vllm:time_per_output_token_seconds",
        "P50",
        "30-50 %",
        "vllm:request_rate",
        "vllm:gpu_cache_usage_perc",
        "vllm:kv_cache_usage_perc",
        'grep "speculative" /workspace/logs/decode_rank0.log',
        "accepted 2340 / drafted 3000 = 78.0%",
        "SpecDecoding metrics: Mean acceptance length",
    ),
    "tuning": ("80 %", "60-80 %", "60 %", "num_speculative_tokens"),
    "pitfalls": (
        "CUDA",
        '"enforce_eager": true',
        "docker-compose.yml",
        "max_tokens=1",
        "30-60 s",
        "1-5 GB",
        "MTP",
    ),
    "choosing": (
        "GLM-5.x",
        "DeepSeek-V3",
        "DeepSeek-V4",
        "Kimi-K2.x",
        "Mistral",
        "3-5",
        "0.5B",
        "1.5B",
        "enforce_eager",
    ),
    "rules": ("16",),
}
PITFALLS: dict[str, dict[str, tuple[str, ...]]] = {
    "slower": {
        "en": ("too large", "1 or 2"),
        "zh-hans": ("反而变慢", "太大", "1 或 2"),
    },
    "graph-error": {
        "en": ("CUDA graph", "enforce_eager"),
        "zh-hans": ("CUDA Graph", "enforce_eager"),
    },
    "eagle-load": {
        "en": ("does not load", "damaged", "mount"),
        "zh-hans": ("加载失败", "损坏", "挂载"),
    },
    "no-gain": {
        "en": ("does not rise", "prefill", "1 on"),
        "zh-hans": ("没有提升", "prefill", "降到 1"),
    },
    "slow-start": {
        "en": ("starts slowly", "30-60 s"),
        "zh-hans": ("启动慢", "30-60 s"),
    },
    "acceptance-falls": {
        "en": ("drops suddenly", "shorten", "MTP"),
        "zh-hans": ("突然下降", "缩短上下文", "MTP"),
    },
    "pd-weights": {
        "en": ("both sides", "both deployments"),
        "zh-hans": ("P 和 D", "两个部署都挂载"),
    },
}
BOTH_TONGUES: dict[tuple[str, str], tuple[str, ...]] = {
    ("why", "en"): ("memory bandwidth", "bonus token", "target model", "draft"),
    ("why", "zh-hans"): ("memory-bound", "显存带宽", "目标模型", "草稿"),
    ("methods", "en"): ("hidden states", "tree attention", "same vocabulary"),
    ("methods", "zh-hans"): ("隐藏状态", "Tree Attention", "词表"),
    ("tuning", "en"): ("healthy", "normal range", "low; lower"),
    ("tuning", "zh-hans"): ("健康", "正常范围", "偏低"),
    ("disaggregation", "en"): ("KV cache of their own", "switched off"),
    ("disaggregation", "zh-hans"): ("自己的 KV cache", "关掉"),
    ("ascend", "en"): ("careful", "bold", "latency"),
    ("ascend", "zh-hans"): ("保守", "激进", "延迟"),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_what_the_field_guide_says_is_there(language: str, slug: str) -> None:
    """Names, numbers and commands are the same in every language."""
    text = words_of(language, slug)
    assert [fact for fact in FACTS[slug] if fact not in text] == []


@pytest.mark.parametrize(("slug", "language"), sorted(BOTH_TONGUES))
def test_reasons_are_there(slug: str, language: str) -> None:
    """Why, in the words of the language."""
    text = words_of(language, slug)
    assert [fact for fact in BOTH_TONGUES[slug, language] if fact not in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", sorted(PITFALLS))
def test_every_pitfall_has_cause_and_cure(row: str, language: str) -> None:
    """The seven of the field guide, one row each."""
    element = body(language, "pitfalls").select_one(f"tr#{row}")
    assert element is not None
    text = plain(element.get_text(" "))
    assert [part for part in PITFALLS[row][language] if part not in text] == []
    assert len(element.select("th, td")) == 3

"""Every command of the field guide that users start from, with its exact verdict."""

import pytest

from tests.planning.rules_launch.judging import codes, judged, on_ascend

MTP = '--speculative-config \'{"num_speculative_tokens": 3, "method": "deepseek_mtp"}\''
HEAD = 'EAGLE_PATH="/models/kimi-k2.6-eagle3"'
EAGLE = '\'{"method":"eagle3","model":"\'$EAGLE_PATH\'","num_speculative_tokens":3}\''
QUOTED = (
    '\'{"method":"eagle3","model":"\'"$EAGLE_PATH"\'","num_speculative_tokens":3}\''
)
DRAFT = '{"method":"draft_model","model":"Qwen/Qwen3-0.6B","num_speculative_tokens":5}'
EAGER = '{\n  "num_speculative_tokens": 3,\n  "method": "deepseek_mtp",\n  "enforce_eager": true\n}'
KIMI = f"{HEAD}\n\n# Prefill\nvllm serve /workspace/Kimi-K2.6-w8a8 \\\n  --speculative-config {QUOTED}\n"
FLASH = (
    "vllm serve /workspace/DeepSeek-V4-Flash-w8a8-mtp \\\n"
    '  --speculative-config \'{"num_speculative_tokens": 5, "method": "deepseek_mtp"}\''
)
VOLUMES = "# docker-compose.yml\nvolumes:\n  - /data/models/Kimi-K2.6/kimi-k2.6-eagle3:/models/kimi-k2.6-eagle3\n"
BENCH = (
    "python3 -m vllm.benchmarks.benchmark_serving \\\n  --backend vllm --model model-name \\\n"
    "  --dataset-name sharegpt --num-prompts 100\n"
)


def _glm(count: int) -> str:
    config = f'{{"num_speculative_tokens": {count}, "method":"deepseek_mtp", "enforce_eager": true}}'
    return f"vllm serve /workspace/GLM-5.2-w8a8 \\\n  --speculative-config '{config}'\n"


@pytest.mark.parametrize(
    ("block", "verdict", "method", "count"),
    [
        (f"# GLM-5.2\n{MTP}", "accept", "mtp", 3),
        (f"{HEAD}\n--speculative-config {EAGLE}", "accept", "eagle3", 3),
        (
            f"vllm serve Qwen/Qwen3-72B \\\n  --speculative-config '{DRAFT}'",
            "warn",
            "draft_model",
            5,
        ),
        (EAGER, "accept", "mtp", 3),
        (f"{_glm(1)}\n{_glm(3)}", "accept", "mtp", 1),
        (KIMI, "accept", "eagle3", 3),
        (FLASH, "warn", "mtp", 5),
    ],
)
def test_blocks_that_start_a_server_on_ascend(
    block: str, verdict: str, method: str, count: int
) -> None:
    report = on_ascend(block)
    assert report.verdict == verdict
    drafting = report.source.launches[0].speculation
    assert drafting is not None
    assert (drafting.method, drafting.num_speculative_tokens) == (method, count)


def test_the_head_of_a_variable_is_found() -> None:
    drafting = on_ascend(KIMI).source.launches[0].speculation
    assert drafting is not None
    assert drafting.drafter == "$EAGLE_PATH"
    assert drafting.drafter_resolved == "/models/kimi-k2.6-eagle3"


def test_a_repository_that_never_was_names_its_nearest() -> None:
    report = judged(f"vllm serve Qwen/Qwen3-72B --speculative-config '{DRAFT}'")
    found = next(one for one in report.findings if one.code == "REPOSITORY_UNKNOWN")
    assert found.fix == "The nearest known one is Qwen/Qwen3-32B."


def test_flash_without_an_eager_drafter_is_an_error_before_the_release_that_captures_it() -> (
    None
):
    assert on_ascend(FLASH, "0.22.1rc1").verdict == "reject"
    assert on_ascend(FLASH, "0.23.0").verdict == "accept"


@pytest.mark.parametrize(
    ("block", "verdict", "expected"),
    [
        (
            "vllm serve /model --max-num-seqs 256  # no speculative-config",
            "accept",
            ["VERSION_NOT_NAMED"],
        ),
        (VOLUMES, "accept", ["NO_LAUNCH"]),
        (
            'grep "speculative" /workspace/logs/decode_rank0.log',
            "accept",
            ["NO_LAUNCH"],
        ),
        (BENCH, "reject", ["BENCHMARK_MODULE_MISSING", "DATASET_FILE_MISSING"]),
    ],
)
def test_blocks_that_start_no_drafting_server(
    block: str, verdict: str, expected: list[str]
) -> None:
    report = judged(block)
    assert report.verdict == verdict
    assert codes(report) == expected


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        (
            'vllm serve Qwen1.5-1.8B-Chat --speculative-config \'{"method":"ngram","num_speculative_tokens":8}\'',
            "NGRAM_SMALL_TARGET",
        ),
        (
            'vllm serve M --kv-transfer-config \'{"kv_connector":"MooncakeConnectorV1","kv_role":"kv_producer"}\' '
            + MTP,
            "PREFILL_DRAFTS_IN_VAIN",
        ),
        (
            'docker run -v /data/Kimi:/models/Kimi -e A=b quay.io/ascend/vllm-ascend:v0.23.0 vllm serve /models/Kimi --speculative-config \'{"method":"eagle3","model":"/models/kimi-eagle3","num_speculative_tokens":3}\'',
            "PATH_NOT_MOUNTED",
        ),
    ],
)
def test_pitfalls_are_recognised(launch: str, expected: str) -> None:
    assert expected in codes(judged(launch))


def test_a_misspelt_count_is_one_fault_where_unknown_keys_are_refused() -> None:
    """Versions that ignore such a key miss the count instead."""
    launch = 'vllm serve M --speculative-config \'{"method":"mtp","num_speculative_token":3}\''
    assert codes(judged(launch, "0.32.0")) == ["SPEC_KEY_UNKNOWN"]
    assert "COUNT_MISSING" in codes(judged(launch, "0.11.0"))

"""A thousand launches are judged within the time that was promised."""

import time

from tests.planning.rules_launch.judging import (
    eagle3,
    graphs,
    judged,
    mtp,
    ngram,
    on_ascend,
)

PROMISED_SECONDS = 5


def test_a_thousand_launches_in_five_seconds_of_one_core() -> None:
    inputs = [
        mtp(
            "--max-num-seqs 8 -tp 8 --max-model-len 65536 --gpu-memory-utilization 0.9 "
            + graphs(),
            "zai-org/GLM-5.2",
        ),
        "export HCCL_OP_EXPANSION_MODE=AIV HCCL_BUFFSIZE=1024\n"
        + eagle3("--max-num-seqs 32 --quantization ascend", "Kimi-K2.6"),
        "docker run --gpus all --ipc=host -p 8000:8000 vllm/vllm-openai:v0.32.0 --model M --port 8000",
        ngram("--async-scheduling --enable-prefix-caching", "Qwen/Qwen3-32B"),
    ]
    judged(inputs[0])
    begun = time.process_time()
    for _ in range(125):
        for content in inputs:
            judged(content)
            on_ascend(content)
    assert time.process_time() - begun < PROMISED_SECONDS


def test_thousands_of_misspelt_variables_are_answered_in_time() -> None:
    """A hostile paste must not keep a web worker busy."""
    names = "".join(f"export VLLM_LOGING_LEVEL{one}X=1\n" for one in range(5000))
    begun = time.process_time()
    report = judged(f"{names}vllm serve M\n")
    assert time.process_time() - begun < PROMISED_SECONDS / 2
    assert report.source.launches


def test_a_misspelt_name_is_found_beside_a_few_that_nobody_knows() -> None:
    names = "".join(f"export VLLM_OF_OURS_{one}=1\n" for one in range(20))
    report = judged(f"{names}export VLLM_LOGING_LEVEL=INFO\nvllm serve M\n")
    assert "VARIABLE_MISSPELT" in [one.code for one in report.findings]

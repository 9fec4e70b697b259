"""Wrong launches are refused twice: by vLLM itself and, before anything runs, by the panel's rules."""

import json
import shlex
from typing import Any

import pytest

from deployments.planning.plan import Severity
from tests.planning.rules_launch.judging import judged
from tests.real.engine import RealEngine
from tests.real.test_speculative import DRAFTERS, LLAMA

MODEL = "/models/Llama-3.1-8B-Instruct"
NGRAM = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}
WORDS = (
    "--speculative-model /models/draft",
    "--num-speculative-tokens 3",
    "--ngram-prompt-lookup-max 4",
    "--speculative-disable-by-batch-size 8",
    "--spec-decoding-acceptance-method typical_acceptance_sampler",
    "--spec-config {}",
    "--use-v2-block-manager",
    "--num-scheduler-steps 8",
    "--num-lookahead-slots 4",
    "--preemption-mode swap",
    "--max-num-sequences 8",
    "--tensor-parallel-size two",
    "--speculative-config {method:ngram}",
    "--enable-auto-tool-choice",
    "--no-max-num-seqs",
)
VALUES = (
    "--max-num-seqs many",
    "--max-num-seqs 1.5",
    "--max-num-seqs 1k",
    "--dtype bf17",
    "--dtype bf16",
    "--dtype BFloat16",
    "--kv-cache-dtype fp9",
    "--kv-cache-dtype FP8",
    "--gpu-memory-utilization 90%",
    "--gpu-memory-utilization 0,9",
    "--enforce-eager true",
    "--enforce-eager=true",
    "--no-enable-prefix-caching false",
    "--disable-log-stats=true",
    "--headless=true",
    "--max-model-len 1.5K",
    "--max-model-len 32kb",
    "--max-num-batched-tokens auto",
    "--port abc",
    "--seed one",
    "--scheduling-policy fifo",
    "--runner generation",
    "--performance-mode fast",
    "--logprobs-mode logits",
    "--mamba-ssm-cache-dtype fp32",
    "--uvicorn-log-level INFO",
    "--all2all-backend DeepEP",
    "--max-lora-rank 17",
    "--chat-template-content-format xml",
    "--cudagraph-capture-sizes 1,2,4",
    "--cudagraph-capture-sizes '[1,2,4]'",
    "--override-generation-config temperature=0.6",
    "--limit-mm-per-prompt image=5",
    "--allowed-origins '*'",
    "--default-chat-template-kwargs '{\"enable_thinking\": False}'",
    "--compilation-config 3",
    "--compilation-config.cudagraph_mode FULLY",
    "--compilation-config '{\"mode\": 7}'",
    "--compilation-config '{\"level\": 3}'",
    "--compilation-config '{\"cudagraph_capture_size\": [1]}'",
    '--compilation-config \'{"cudagraph_capture_sizes": "1,2"}\'',
    '--compilation-config \'{"pass_config": {"fuse_all": true}}\'',
    "-cc.modes=3",
    '--kv-transfer-config \'{"kv_connector": "NixlConnector", "kv_rol": "kv_both"}\'',
    '--kv-transfer-config \'{"kv_connector": "NixlConnector", "kv_role": "both"}\'',
    '--kv-transfer-config \'{"kv_connector": "NixlConnector", "kv_role": "kv_both", "kv_port": "abc"}\'',
    '--kv-events-config \'{"publisher": "x"}\'',
    '--structured-outputs-config \'{"backend": "foo"}\'',
    "--eplb-config '{\"windw_size\": 10}'",
)
RIGHT = (
    "--max-model-len 32k --max-num-batched-tokens 8k",
    "--max-model-len 1.5k",
    "--max-model-len auto",
    "--max-num-seqs 1_000",
    "--moe-backend Flashinfer-Trtllm",
    '--compilation-config \'{"cudagraph_mode": "full", "cudagraph_capture_sizes": ["1", "2"]}\'',
    "--structured-outputs-config.backend outlines",
    "-O3",
    '--kv-transfer-config \'{"kv_connector": "NixlConnector", "kv_role": "kv_both", "kv_port": "20001"}\'',
    (
        '--kv-transfer-config \'{"kv_connector": "OffloadingConnector", "kv_role": "kv_both",'
        ' "kv_connector_extra_config": {"cpu_bytes_to_use": 80m}}\''
    ),
)
CONFIGS: tuple[dict[str, Any], ...] = (
    {**NGRAM, "num_speculative_tokens": 0},
    {**NGRAM, "num_speculative_tokens": -1},
    {**NGRAM, "num_speculative_tokens": "three"},
    {**NGRAM, "prompt_lookup_min": 6},
    {**NGRAM, "prompt_lookup_maximum": 4},
    {**NGRAM, "speculative_disable_by_batch_size": 8},
    {"method": "ngram", "prompt_lookup_max": 4},
    {"method": "eagle-3", "model": "eagle3", "num_speculative_tokens": 3},
    {"method": "EAGLE3", "model": "eagle3", "num_speculative_tokens": 3},
    {"method": "eagle3", "num_speculative_tokens": 3},
    {"method": "draft_model", "num_speculative_tokens": 3},
    {"method": "lookahead", "num_speculative_tokens": 3},
    {
        "method": "draft_model",
        "model": "draft_model",
        "num_speculative_tokens": 3,
        "tensor_parallel_size": 1,
    },
    {**NGRAM, "draft_tensor_parallel_size": 0},
    {"method": "eagle", "num_speculative_tokens": 3},
)


def _errors(words: str) -> list[str]:
    report = judged(f"vllm serve {MODEL} {words}", version="0.32.0")
    return [
        finding.code
        for finding in report.findings
        if finding.severity is Severity.ERROR
    ]


@pytest.mark.parametrize("words", [*WORDS, *VALUES])
def test_wrong_arguments_are_refused_by_both(engine: RealEngine, words: str) -> None:
    """By the parser, and by a finding."""
    assert engine.refusal(["serve", MODEL, *shlex.split(words)]) is not None
    assert _errors(words) != []


@pytest.mark.parametrize("config", CONFIGS, ids=json.dumps)
def test_wrong_speculative_config_is_refused_by_both(
    engine: RealEngine, config: dict[str, Any]
) -> None:
    """By SpeculativeConfig, and by a finding."""
    asked = dict(config)
    if asked.get("model") in DRAFTERS:
        name = str(asked["model"])
        asked["model"] = str(engine.model(f"drafter-{name}", DRAFTERS[name]))
    target = engine.model("llama", LLAMA)
    assert engine.speculative_refusal(asked, target) is not None
    written = {**config, **({"model": "/models/draft"} if "model" in config else {})}
    assert _errors(f"--speculative-config '{json.dumps(written)}'") != []


def test_the_same_without_the_mistake_is_taken_by_both(engine: RealEngine) -> None:
    """Else both would simply refuse everything."""
    words = f"--max-num-seqs 8 --speculative-config '{json.dumps(NGRAM)}'"
    assert engine.refusal(["serve", MODEL, *shlex.split(words)]) is None
    assert engine.speculative_refusal(NGRAM, engine.model("llama", LLAMA)) is None
    assert _errors(words) == []


@pytest.mark.parametrize("words", RIGHT)
def test_odd_values_that_are_right_are_taken_by_both(
    engine: RealEngine, words: str
) -> None:
    """What looks wrong and is not."""
    assert engine.refusal(["serve", MODEL, *shlex.split(words)]) is None
    assert _errors(words) == []


def test_there_are_thirty_of_each() -> None:
    """As many as were promised."""
    assert len(WORDS) + len(CONFIGS) >= 30
    assert len(VALUES) >= 30

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


@pytest.mark.parametrize("words", WORDS)
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


def test_there_are_thirty() -> None:
    """As many as were promised."""
    assert len(WORDS) + len(CONFIGS) >= 30

"""Repeating: the command that makes a run again, and what the result does not tell of it."""

from collections.abc import Sequence
from dataclasses import replace

from deployments.telemetry.benchmarks.conditions import COLD
from deployments.telemetry.benchmarks.loads import at_load, loads
from deployments.telemetry.benchmarks.values import BenchmarkRun

_FLAGS = (
    ("dataset_name", "--dataset-name"),
    ("dataset_path", "--dataset-path"),
    ("random_input_len", "--random-input-len"),
    ("random_output_len", "--random-output-len"),
    ("random_range_ratio", "--random-range-ratio"),
    ("hf_subset", "--hf-subset"),
    ("hf_split", "--hf-split"),
    ("hf_name", "--hf-name"),
    ("sharegpt_output_len", "--sharegpt-output-len"),
    ("custom_output_len", "--custom-output-len"),
    ("endpoint", "--endpoint"),
)
_OF_A_DATASET = {
    "random": "random",
    "hf": "hf",
    "sharegpt": "sharegpt",
    "custom": "custom",
}
"""Datasets whose own flags begin with their name; the others' defaults are left out."""

WARM_UPS = 8


def completed(runs: Sequence[BenchmarkRun]) -> BenchmarkRun:
    """The run with the lowest load, with what only other runs of the same benchmark tell."""
    lowest = at_load(runs, loads(runs)[0])[0]
    told: dict[str, str] = {}
    for run in runs:
        told = run.conditions | told
    return replace(
        lowest,
        model=next((run.model for run in runs if run.model), None),
        tokenizer=next((run.tokenizer for run in runs if run.tokenizer), None),
        backend=next((run.backend for run in runs if run.backend), None),
        conditions=told,
    )


def command(run: BenchmarkRun) -> list[str]:
    """The arguments that measure the same again with vLLM 0.11.1 or later.

    Words in capitals stand for what the result does not tell. Temperature 0 and warm-up are
    always asked for: without them acceptance and the first answers differ from run to run.
    """
    words = ["vllm", "bench", "serve", "--base-url", "http://127.0.0.1:8000"]
    if run.backend:
        words += ["--backend", run.backend]
    words += ["--model", run.model or "MODEL"]
    if run.tokenizer and run.tokenizer != run.model:
        words += ["--tokenizer", run.tokenizer]
    words += _dataset(run)
    words += ["--num-prompts", str(run.requests or "PROMPTS")]
    if run.max_concurrency is not None:
        words += ["--max-concurrency", str(run.max_concurrency)]
    words += ["--request-rate", _rate(run.request_rate)]
    words += ["--seed", run.conditions.get("seed", "0"), "--temperature", "0"]
    if run.conditions.get("ignore_eos") == "True":
        words.append("--ignore-eos")
    if run.conditions.get("prefix_cache") == COLD:
        # Another word for each run, or it finds the prompts of the one before.
        words += ["--extra-body", '{"cache_salt": "run-1"}']
    return [
        *words,
        *("--num-warmups", str(WARM_UPS), "--percentile-metrics", "ttft,tpot,itl,e2el"),
        *("--metric-percentiles", "50,90,99", "--save-result"),
    ]


def untold(run: BenchmarkRun) -> tuple[str, ...]:
    """What stands in capitals in the command, in its order."""
    return tuple(word for word in command(run) if word.isupper())


def _dataset(run: BenchmarkRun) -> list[str]:
    name = run.conditions.get("dataset_name")
    if name is None:
        return ["--dataset-name", "DATASET"]
    words: list[str] = []
    for key, flag in _FLAGS:
        owner = _OF_A_DATASET.get(key.partition("_")[0])
        value = run.conditions.get(key)
        if value is not None and owner in {None, name}:
            words += [flag, value]
    return words


def _rate(rate: float | str | None) -> str:
    return f"{rate:g}" if isinstance(rate, float) else "inf"

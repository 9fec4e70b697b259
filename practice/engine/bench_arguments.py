"""Bench arguments: the flags of ``vllm bench serve`` 0.32.0 that the practice client follows."""

import argparse
import json
import pathlib
import random
from collections.abc import Sequence
from typing import NoReturn

from practice.engine.arguments import TOP_USAGE, UsageError

CHAT_BACKEND = "openai-chat"
DEFAULT_OUTPUT_TOKENS = 256
RANDOM = "random"
SHAREGPT = "sharegpt"
SHORTEST, LONGEST_PROMPT, LONGEST_TOTAL = 4, 1024, 2048
"""What ``is_valid_sequence`` of vLLM 0.8.5 to 0.33.0 leaves of ShareGPT, in tokens: here words."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.usage}\nvllm bench serve: error: {message}")


def parse_bench(argv: Sequence[str]) -> argparse.Namespace:
    """Read what follows ``vllm bench``.

    Raises:
        UsageError: another benchmark than ``serve``, an unknown flag or a value of the wrong kind.
    """
    if list(argv[:1]) != ["serve"]:
        raise UsageError(
            f"{TOP_USAGE}\nvllm bench: error: the practice image knows `vllm bench serve` only"
        )
    known, unknown = _bench_parser().parse_known_args(list(argv[1:]))
    if unknown:
        raise UsageError(
            f"{TOP_USAGE}\nvllm: error: unrecognized arguments: {' '.join(unknown)}"
        )
    return known


def read_prompts(arguments: argparse.Namespace) -> list[tuple[str, int]]:
    """The (prompt, output tokens) of a run, in the order of its seed; repeated when they are few.

    Raises:
        ValueError: the file cannot be used; in the words of vLLM 0.32.0 where it has some.
    """
    shuffler = random.Random(arguments.seed)  # noqa: S311 - an order, no secret
    if arguments.dataset_name == RANDOM:
        words = arguments.random_input_len
        return [
            (
                " ".join(str(shuffler.randrange(10**4)) for _ in range(words)),
                arguments.random_output_len,
            )
            for _ in range(arguments.num_prompts)
        ]
    if not arguments.dataset_path:
        raise ValueError("dataset_path must be provided for loading data.")
    if arguments.dataset_name == SHAREGPT:
        return _shared(arguments, shuffler)
    lines = pathlib.Path(arguments.dataset_path).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in lines.split("\n") if line.strip()]
    if any("prompt" not in row for row in rows):
        raise ValueError("JSONL file must contain a 'prompt' column.")
    if not arguments.disable_shuffle:
        shuffler.shuffle(rows)
    found = [(row["prompt"], _output_tokens(arguments, row)) for row in rows]
    return [found[index % len(found)] for index in range(arguments.num_prompts)]


def _shared(
    arguments: argparse.Namespace, shuffler: random.Random
) -> list[tuple[str, int]]:
    """The first two turns of each conversation: what was asked, and the length of what was answered."""
    text = pathlib.Path(arguments.dataset_path).read_text(encoding="utf-8")
    turns = [row.get("conversations", []) for row in json.loads(text)]
    several = [(row[0]["value"], row[1]["value"]) for row in turns if len(row) > 1]
    found = [
        (asked, answered)
        for asked, answer in several
        if SHORTEST <= (length := len(asked.split())) <= LONGEST_PROMPT
        and (answered := len(answer.split())) >= SHORTEST
        and length + answered <= LONGEST_TOTAL
    ]
    if not arguments.disable_shuffle:
        shuffler.shuffle(found)
    if not found:
        raise ValueError("no conversation of the dataset can be sent")
    return [found[index % len(found)] for index in range(arguments.num_prompts)]


def _output_tokens(arguments: argparse.Namespace, row: dict[str, int]) -> int:
    if arguments.custom_output_len != -1:
        return int(arguments.custom_output_len)
    if "output_tokens" not in row:
        raise ValueError(
            "If no output length is provided the custom dataset must contain an 'output_tokens' field."
        )
    return int(row["output_tokens"])


def _bench_parser() -> _Parser:
    parser = _Parser(
        prog="vllm bench serve",
        usage="usage: vllm bench serve [options]",
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--base-url", default="http://127.0.0.1:8000")
    add("--backend", choices=[CHAT_BACKEND], default=CHAT_BACKEND)
    add("--endpoint", default="/v1/chat/completions")
    add("--model", required=True)
    add("--tokenizer")
    add("--dataset-name", choices=["custom", RANDOM, SHAREGPT], default=RANDOM)
    add("--dataset-path")
    add("--custom-output-len", type=int, default=DEFAULT_OUTPUT_TOKENS)
    add("--random-input-len", type=int, default=1024)
    add("--random-output-len", type=int, default=128)
    add("--num-prompts", type=int, default=1000)
    add("--max-concurrency", type=int, default=1)
    add("--request-rate", choices=["inf"], default="inf")
    add("--seed", type=int, default=0)
    add("--temperature", type=float)
    add("--num-warmups", type=int, default=0)
    add("--extra-body", type=json.loads)
    add("--percentile-metrics", default="ttft,tpot,itl")
    add("--metric-percentiles", default="99")
    add("--result-dir", default=".")
    add("--result-filename", default="result.json")
    for switch in ("skip-chat-template", "disable-shuffle", "disable-tqdm"):
        add(f"--{switch}", action="store_true")
    add("--save-result", action="store_true")
    return parser

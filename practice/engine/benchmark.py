"""Benchmark: a small ``vllm bench serve``; it sends real requests and measures what comes back.

Nothing is made up: times are those of the practice server's answers, acceptance is the difference of its
counters before and after, as vLLM 0.32.0 takes it from ``/metrics``.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import statistics
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from practice.engine.bench_arguments import (
    CHAT_BACKEND,
    parse_bench,
    read_prompts,
)
from practice.engine.output import Output

REQUEST_TIMEOUT_S = 600.0
KEY_VARIABLE = "OPENAI_API_KEY"
"""vLLM's client sends this as the bearer token (0.8.5 to 0.33.0)."""
_SAMPLE = re.compile(r"^(vllm:spec_decode_\w+)\{([^}]*)\} ([0-9.e+]+)$", re.MULTILINE)
_POSITION = re.compile(r'position="(\d+)"')
TITLES = {
    "ttft": "Time to First Token",
    "tpot": "Time per Output Token (excl. 1st token)",
    "itl": "Inter-token Latency",
    "e2el": "End-to-end Latency",
}


@dataclass(slots=True)
class Request:
    """One request and its answer; times are seconds."""

    begin: float = 0.0
    first: float | None = None
    gaps: list[float] = field(default_factory=list)
    end: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    error: str = ""


def bench(argv: Sequence[str], output: Output) -> int:
    """Run ``vllm bench`` with these arguments and return the exit code.

    Raises:
        UsageError: the arguments are refused.
    """
    arguments = parse_bench(argv)
    try:
        prompts = read_prompts(arguments)
        warm_ups = [
            prompts[index % len(prompts)] for index in range(arguments.num_warmups)
        ]
        _send_all(arguments, warm_ups)
        before = _counters(arguments.base_url)
        begin = time.perf_counter()
        requests = _send_all(arguments, prompts)
        duration = time.perf_counter() - begin
        after = _counters(arguments.base_url)
    except (OSError, ValueError) as error:
        output.err(f"{type(error).__name__}: {error}")
        return 1
    result = _result(arguments, requests, duration)
    result.update(_speculation(before, after))
    for line in _table(arguments, result):
        output.out(line)
    if arguments.save_result:
        place = pathlib.Path(arguments.result_dir) / arguments.result_filename
        place.write_text(json.dumps(result), encoding="utf-8")
    return 0


def _send_all(
    arguments: argparse.Namespace, prompts: Sequence[tuple[str, int]]
) -> list[Request]:
    """Send all, as many at once as asked for."""
    requests = [Request() for _ in prompts]
    waiting = iter(list(zip(prompts, requests, strict=True)))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                one = next(waiting, None)
            if one is None:
                return
            (prompt, tokens), request = one
            try:
                _send(arguments, prompt, tokens, request)
            except (OSError, ValueError, http.client.HTTPException) as error:
                request.error = f"{type(error).__name__}: {error}"

    threads = [
        threading.Thread(target=work, daemon=True)
        for _ in range(min(arguments.max_concurrency, len(prompts)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return requests


def _send(
    arguments: argparse.Namespace, prompt: str, tokens: int, request: Request
) -> None:
    address = urllib.parse.urlsplit(arguments.base_url)
    connection = http.client.HTTPConnection(
        address.hostname or "", address.port or 80, timeout=REQUEST_TIMEOUT_S
    )
    body = {
        "model": arguments.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_completion_tokens": tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if arguments.temperature is not None:
        body["temperature"] = arguments.temperature
    body |= arguments.extra_body or {}
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(KEY_VARIABLE):
        headers["Authorization"] = f"Bearer {key}"
    request.begin = time.perf_counter()
    try:
        connection.request("POST", arguments.endpoint, json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status != HTTPStatus.OK:
            request.error = answer.read(500).decode(errors="replace") or answer.reason
            return
        for event in _events(answer):
            _take(request, event)
    finally:
        request.end = time.perf_counter()
        connection.close()


def _events(answer: http.client.HTTPResponse) -> Iterator[dict[str, object]]:
    for line in answer:
        text = line.strip().removeprefix(b"data: ")
        if text and text != b"[DONE]":
            yield json.loads(text)


def _take(request: Request, event: dict[str, object]) -> None:
    usage = event.get("usage")
    if isinstance(usage, dict):
        request.input_tokens = int(usage["prompt_tokens"])
        request.output_tokens = int(usage["completion_tokens"])
        return
    now = time.perf_counter()
    if request.first is None:
        request.first = request.end = now
        return
    request.gaps.append(now - request.end)
    request.end = now


def _counters(base_url: str) -> dict[str, float]:
    """The counters of speculation, summed over engines; none where nothing speculates or tells."""
    found: dict[str, float] = {}
    try:
        with urllib.request.urlopen(f"{base_url}/metrics", timeout=30) as answer:  # noqa: S310
            text = answer.read().decode()
    except urllib.error.HTTPError:  # a router
        return found
    for name, labels, value in _SAMPLE.findall(text):
        position = _POSITION.search(labels)
        key = f"{name}/{position[1]}" if position else name
        found[key] = found.get(key, 0.0) + float(value)
    return found


def _speculation(
    before: dict[str, float], after: dict[str, float]
) -> dict[str, object]:
    grown = {key: after[key] - before.get(key, 0.0) for key in after}
    drafts = grown.get("vllm:spec_decode_num_drafts_total", 0.0)
    drafted = grown.get("vllm:spec_decode_num_draft_tokens_total", 0.0)
    accepted = grown.get("vllm:spec_decode_num_accepted_tokens_total", 0.0)
    if not drafts or not drafted:
        return {}
    by_position = {
        int(key.rpartition("/")[2]): value / drafts
        for key, value in grown.items()
        if key.startswith("vllm:spec_decode_num_accepted_tokens_per_pos_total/")
    }
    return {
        "spec_decode_acceptance_rate": 100 * accepted / drafted,
        "spec_decode_acceptance_length": 1 + accepted / drafts,
        "spec_decode_num_drafts": int(drafts),
        "spec_decode_draft_tokens": int(drafted),
        "spec_decode_accepted_tokens": int(accepted),
        "spec_decode_per_position_acceptance_rates": [
            by_position[position] for position in sorted(by_position)
        ],
    }


def _result(
    arguments: argparse.Namespace, requests: Sequence[Request], duration: float
) -> dict[str, object]:
    good = [one for one in requests if one.first is not None and not one.error]
    made = sum(one.output_tokens for one in good)
    read = sum(one.input_tokens for one in good)
    times = {
        "ttft": [(one.first or 0.0) - one.begin for one in good],
        "tpot": [
            (one.end - (one.first or 0.0)) / (one.output_tokens - 1)
            for one in good
            if one.output_tokens > 1
        ],
        "itl": [gap for one in good for gap in one.gaps],
        "e2el": [one.end - one.begin for one in good],
    }
    result: dict[str, object] = {
        "date": time.strftime("%Y%m%d-%H%M%S"),
        "endpoint_type": CHAT_BACKEND,
        "backend": CHAT_BACKEND,
        "label": None,
        "model_id": arguments.model,
        "tokenizer_id": arguments.tokenizer or arguments.model,
        "num_prompts": len(requests),
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": arguments.max_concurrency,
        "duration": duration,
        "completed": len(good),
        "failed": len(requests) - len(good),
        "total_input_tokens": read,
        "total_output_tokens": made,
        "request_throughput": len(good) / duration,
        "output_throughput": made / duration,
        "total_token_throughput": (read + made) / duration,
    }
    for measure in arguments.percentile_metrics.split(","):
        asked = [float(one) for one in arguments.metric_percentiles.split(",")]
        result.update(_spread(measure, times[measure], asked))
    return result


def _spread(
    measure: str, seconds: Sequence[float], percentiles: Sequence[float]
) -> dict[str, object]:
    values = sorted(1000 * one for one in seconds) or [0.0]
    found: dict[str, object] = {
        f"mean_{measure}_ms": statistics.fmean(values),
        f"median_{measure}_ms": statistics.median(values),
        f"std_{measure}_ms": statistics.pstdev(values),
    }
    for percentile in percentiles:
        place = min(len(values) - 1, round(percentile / 100 * (len(values) - 1)))
        found[f"p{percentile:g}_{measure}_ms"] = values[place]
    return found


def _table(arguments: argparse.Namespace, result: dict[str, object]) -> Iterator[str]:
    yield f"{' Serving Benchmark Result ':=^50}"
    for title, key, form in (
        ("Successful requests:", "completed", "d"),
        ("Failed requests:", "failed", "d"),
        ("Maximum request concurrency:", "max_concurrency", "d"),
        ("Benchmark duration (s):", "duration", ".2f"),
        ("Total input tokens:", "total_input_tokens", "d"),
        ("Total generated tokens:", "total_output_tokens", "d"),
        ("Request throughput (req/s):", "request_throughput", ".2f"),
        ("Output token throughput (tok/s):", "output_throughput", ".2f"),
        ("Total token throughput (tok/s):", "total_token_throughput", ".2f"),
    ):
        yield f"{title:<40} {format(result[key], form):<10}"
    for measure in arguments.percentile_metrics.split(","):
        yield f"{TITLES[measure]:-^50}"
        for name in [key for key in result if key.endswith(f"_{measure}_ms")]:
            which = name.removesuffix(f"_{measure}_ms")
            if which != "std":
                title = f"{which.capitalize()} {measure.upper()} (ms):"
                yield f"{title:<40} {result[name]:<10.2f}"
    if "spec_decode_num_drafts" in result:
        yield from _table_of_speculation(result)
    yield "=" * 50


def _table_of_speculation(result: dict[str, object]) -> Iterator[str]:
    yield f"{'Speculative Decoding':-^50}"
    for title, key, form in (
        ("Acceptance rate (%):", "spec_decode_acceptance_rate", ".2f"),
        ("Acceptance length:", "spec_decode_acceptance_length", ".2f"),
        ("Drafts:", "spec_decode_num_drafts", "d"),
        ("Draft tokens:", "spec_decode_draft_tokens", "d"),
        ("Accepted tokens:", "spec_decode_accepted_tokens", "d"),
    ):
        yield f"{title:<40} {format(result[key], form):<10}"
    positions = result["spec_decode_per_position_acceptance_rates"]
    if isinstance(positions, list):
        yield "Per-position acceptance (%):"
        for number, share in enumerate(positions):
            yield f"{f'  Position {number}:':<40} {100 * share:<10.2f}"

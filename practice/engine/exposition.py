"""Exposition: the Prometheus text of the practice engine, vLLM 0.32.0's names and labels."""

import time
from collections.abc import Callable, Iterator

from practice.engine.drafting import Counts
from practice.engine.latencies import Histogram, Latencies
from practice.engine.state import ServerState

STARTED_AT = time.time()
_SPECULATION = (
    ("num_drafts", "Number of spec decoding drafts.", lambda counts: counts.drafts),
    ("num_draft_tokens", "Number of draft tokens.", lambda counts: counts.drafted),
    (
        "num_accepted_tokens",
        "Number of accepted tokens.",
        lambda counts: counts.accepted,
    ),
)
_POSITIONS = "vllm:spec_decode_num_accepted_tokens_per_pos"
_FINISHED = "vllm:request_success"
_HISTOGRAMS: tuple[tuple[str, str, Callable[[Latencies], Histogram]], ...] = (
    (
        "vllm:time_to_first_token_seconds",
        "Histogram of time to first token in seconds.",
        lambda latencies: latencies.first_token,
    ),
    (
        "vllm:inter_token_latency_seconds",
        "Histogram of inter-token latency in seconds.",
        lambda latencies: latencies.between,
    ),
    (
        "vllm:request_time_per_output_token_seconds",
        "Histogram of time_per_output_token_seconds per request.",
        lambda latencies: latencies.per_token,
    ),
)


def exposition(state: ServerState, model: str, *, with_stats: bool) -> str:
    """Return the scrape; without statistics (``--disable-log-stats``) no ``vllm:`` series."""
    lines = [
        "# HELP process_start_time_seconds Start time of the process in seconds.",
        "# TYPE process_start_time_seconds gauge",
        f"process_start_time_seconds {STARTED_AT!r}",
    ]
    if with_stats:
        with state.lock:
            lines += _series(state, model)
    return "\n".join(lines) + "\n"


def _series(state: ServerState, model: str) -> Iterator[str]:
    name = model.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    engines = [
        (f'engine="{engine.index}",model_name="{name}"', engine)
        for engine in state.engines
    ]

    def counter(metric: str, text: str, read: Callable[[Counts], int]) -> Iterator[str]:
        rows = [(labels, float(read(engine.counts))) for labels, engine in engines]
        yield from _counter(metric, text, rows)

    if state.speculation is not None:
        for metric, text, read in _SPECULATION:
            yield from counter(f"vllm:spec_decode_{metric}", text, read)
        yield from _counter(
            _POSITIONS,
            "Accepted tokens per draft position.",
            [
                (f'{labels},position="{position}"', float(count))
                for labels, engine in engines
                for position, count in enumerate(engine.counts.per_position)
            ],
        )
    yield from _gauge(
        "vllm:num_requests_running",
        "Number of requests in model execution batches.",
        [(labels, float(engine.running)) for labels, engine in engines],
    )
    yield from _gauge(
        "vllm:num_requests_waiting",
        "Number of requests waiting to be processed.",
        [(labels, 0.0) for labels, _ in engines],
    )
    yield from _gauge(
        "vllm:kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
        [(labels, 0.0) for labels, _ in engines],
    )
    yield from counter(
        "vllm:prompt_tokens",
        "Number of prefill tokens processed.",
        lambda counts: counts.prompt_tokens,
    )
    yield from counter(
        "vllm:generation_tokens",
        "Number of generation tokens processed.",
        lambda counts: counts.generated_tokens,
    )
    yield from _counter(
        _FINISHED,
        "Count of successfully processed requests.",
        [
            (labels.replace(",", ',finished_reason="length",', 1), float(done))
            for labels, engine in engines
            for done in [engine.counts.requests - engine.running]
        ],
    )
    yield from counter(
        "vllm:num_preemptions",
        "Cumulative number of preemption from the engine.",
        lambda _counts: 0,
    )
    for metric, text, of in _HISTOGRAMS:
        yield from _histogram(
            metric, text, [(labels, of(engine.latencies)) for labels, engine in engines]
        )


def _counter(metric: str, text: str, rows: list[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP {metric}_total {text}"
    yield f"# TYPE {metric}_total counter"
    yield from (f"{metric}_total{{{labels}}} {value!r}" for labels, value in rows)
    yield f"# HELP {metric}_created {text}"
    yield f"# TYPE {metric}_created gauge"
    yield from (f"{metric}_created{{{labels}}} {STARTED_AT!r}" for labels, _ in rows)


def _gauge(metric: str, text: str, rows: list[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP {metric} {text}"
    yield f"# TYPE {metric} gauge"
    yield from (f"{metric}{{{labels}}} {value!r}" for labels, value in rows)


def _histogram(
    metric: str, text: str, rows: list[tuple[str, Histogram]]
) -> Iterator[str]:
    yield f"# HELP {metric} {text}"
    yield f"# TYPE {metric} histogram"
    for labels, histogram in rows:
        for bound, count in histogram.cumulative():
            spot = labels.replace(",", f',le="{bound}",', 1)
            yield f"{metric}_bucket{{{spot}}} {float(count)!r}"
        yield f"{metric}_count{{{labels}}} {float(histogram.count)!r}"
        yield f"{metric}_sum{{{labels}}} {histogram.total!r}"
    yield f"# HELP {metric}_created {text}"
    yield f"# TYPE {metric}_created gauge"
    yield from (f"{metric}_created{{{labels}}} {STARTED_AT!r}" for labels, _ in rows)

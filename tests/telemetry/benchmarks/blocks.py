"""Blocks: result tables with chosen figures."""

from deployments.telemetry.benchmarks.reader import read_benchmark
from deployments.telemetry.benchmarks.values import BenchmarkRun

SPECULATION = """---------------Speculative Decoding---------------
Acceptance rate (%):                     73.47
Acceptance length:                       3.20
Drafts:                                  6393
Draft tokens:                            19179
Accepted tokens:                         14090
Per-position acceptance (%):
  Position 0:                            83.42
  Position 1:                            72.91
  Position 2:                            64.07
"""


def block(  # noqa: PLR0913 - one for each line of the table that tests vary
    *,
    throughput: float = 1000.0,
    tpot: float = 10.0,
    speculation: bool = False,
    concurrency: int | None = 8,
    failed: int = 0,
    completed: int = 200,
    input_tokens: int = 51_200,
    generated: int = 102_400,
    rate: float | None = None,
    duration: float = 102.4,
) -> str:
    """The block of vLLM 0.19 and later, labels padded to 40 columns."""
    rows: list[tuple[str, object]] = [
        ("Successful requests:", completed),
        ("Failed requests:", failed),
        ("Maximum request concurrency:", concurrency),
        ("Request rate configured (RPS):", rate),
        ("Benchmark duration (s):", duration),
        ("Total input tokens:", input_tokens),
        ("Total generated tokens:", generated),
        ("Request throughput (req/s):", round(throughput / 512, 2)),
        ("Output token throughput (tok/s):", throughput),
        ("Peak output token throughput (tok/s):", 25.0),
        ("Mean TTFT (ms):", 120.5),
        ("Median TTFT (ms):", 110.0),
        ("P99 TTFT (ms):", 300.0),
        ("Mean TPOT (ms):", tpot),
        ("Mean ITL (ms):", tpot * (3.2 if speculation else 1)),
    ]
    table = "".join(
        f"{label:<40} {value}\n" for label, value in rows if value is not None
    )
    head = "============ Serving Benchmark Result ============\n"
    return f"{head}{table}{SPECULATION if speculation else ''}{'=' * 50}\n"


def runs(*blocks: str) -> tuple[BenchmarkRun, ...]:
    """What is read from these blocks, one after the other."""
    return read_benchmark("\n".join(blocks).encode())

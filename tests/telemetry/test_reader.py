"""A whole log: records with their engines, totals, the offline block, the backend."""

import time

import pytest

from deployments.telemetry.logs.reader import read_log

HEADER = "(APIServer pid={pid}) INFO 11-29 15:31:40 [{place}] "
ENGINE = "Engine {engine:03d}: Avg prompt throughput: 1.0 tokens/s, Running: 1 reqs"
SPEC = (
    "SpecDecoding metrics: Mean acceptance length: 2.00, Accepted: {accepted} tokens, "
    "Drafted: {drafted} tokens, Per-position acceptance rate: 0.700, 0.300, Avg Draft "
    "acceptance rate: 50.0%"
)


def stats(engine: int, pid: int = 1) -> str:
    return HEADER.format(pid=pid, place="loggers.py:335") + ENGINE.format(engine=engine)


def spec(accepted: int, drafted: int, pid: int = 1) -> str:
    text = SPEC.format(accepted=accepted, drafted=drafted)
    return HEADER.format(pid=pid, place="metrics.py:120") + text


def log(*lines: str) -> bytes:
    return "\n".join(lines).encode()


def test_engine_comes_from_the_line_before_of_the_same_process() -> None:
    data = log(
        stats(2, pid=10), stats(4, pid=11), spec(10, 20, pid=11), spec(20, 40, pid=10)
    )
    assert [record.engine for record in read_log(data).records] == [4, 2]


def test_engine_is_kept_apart_by_service() -> None:
    data = log(f"vllm-1 | {stats(1)}", f"vllm-2 | {spec(10, 20)}")
    assert read_log(data).records[0].engine is None


def test_aggregated_line_belongs_to_no_engine() -> None:
    aggregated = HEADER.format(pid=1, place="loggers.py:335") + (
        "2 Engines Aggregated: Avg prompt throughput: 1.0 tokens/s"
    )
    data = log(stats(1), spec(10, 20), aggregated, spec(10, 20))
    assert [record.engine for record in read_log(data).records] == [1, None]


def test_totals_weigh_by_tokens() -> None:
    totals = read_log(log(spec(10, 20), spec(80, 100))).totals
    assert (totals.accepted, totals.drafted) == (90, 120)
    assert totals.acceptance_rate == 0.75


def test_no_window_has_no_totals() -> None:
    totals = read_log(b"nothing here\n").totals
    assert (totals.accepted, totals.drafted, totals.acceptance_rate) == (
        None,
        None,
        None,
    )


def test_cumulative_records_are_not_added_up() -> None:
    line = (
        "Speculative metrics: Draft acceptance rate: 0.500, System efficiency: 0.500, Number "
        "of speculative tokens: 1, Number of accepted tokens: 500, Number of draft tokens: "
        "1000, Number of emitted tokens: 1500."
    )
    reading = read_log(log(line, line))
    assert len(reading.records) == 2
    assert reading.totals.accepted is None


def test_wrapped_record_is_one_record_at_its_first_line() -> None:
    data = log(
        "text",
        "SpecDecoding metrics: Mean acceptance length: 2.00,",
        "Accepted: 30 tokens, Drafted: 60",
        "tokens, Per-position acceptance rate: 0.700, 0.300,",
        "Avg Draft acceptance rate: 50.0%",
        "Accepted: 5 tokens is no part of it",
    )
    (record,) = read_log(data).records
    assert record.line == 2
    assert (record.accepted, record.drafted) == (30, 60)
    assert record.per_position == (0.7, 0.3)


def test_cut_record_takes_nothing_from_the_next_message() -> None:
    data = log(
        "SpecDecoding metrics: Mean acceptance length: 2.00, Accep", spec(10, 20)
    )
    first, second = read_log(data).records
    assert first.truncated
    assert first.accepted is None
    assert second.accepted == 10


def test_record_after_a_progress_bar_is_found() -> None:
    data = log("Processed:   0%\rProcessed:  50%" + spec(10, 20))
    assert [record.line for record in read_log(data).records] == [1]


def test_offline_summary_is_read() -> None:
    data = log(
        "total_num_output_tokens: 500",
        "num_drafts: 100",
        "num_draft_tokens: 300",
        "num_accepted_tokens: 150",
        "mean acceptance length: 2.50",
        "acceptance at token 0: 0.80",
        "acceptance at token 1: 0.50",
        "acceptance at token 2: 0.20",
    )
    summary = read_log(data).summary
    assert summary is not None
    assert (summary.accepted, summary.drafted, summary.num_drafts) == (150, 300, 100)
    assert (summary.acceptance_rate, summary.mean_acceptance_length) == (0.5, 2.5)
    assert summary.num_speculative_tokens == 3
    assert summary.per_position == (0.8, 0.5, 0.2)


@pytest.mark.parametrize(
    ("line", "backend"),
    [
        (
            "Decode batch, #running-req: 2, accept len: 3.12, accept rate: 0.56",
            "sglang",
        ),
        ("slot print_timing: id 1 | draft acceptance = 0.64", "llama.cpp"),
        ("(APIServer pid=1) INFO 11-29 15:31:40 [api.py:1] hello", "vllm"),
        ("listening on port 80", None),
    ],
)
def test_backend_is_recognised(line: str, backend: str | None) -> None:
    assert read_log(line.encode()).backend == backend


@pytest.mark.parametrize(
    "unit",
    [b"(", b"\x1b]", b"INFO ", b"tokens\n", b"\r", b"accepted 1 / drafted ", b"0.1, "],
)
def test_time_grows_with_the_bytes_only(unit: bytes) -> None:
    def seconds(size: int) -> float:
        data = unit * (size // len(unit))
        start = time.perf_counter()
        read_log(data)
        return time.perf_counter() - start

    seconds(10_000)
    assert seconds(400_000) < 40 * max(seconds(40_000), 0.005)


WHOLE = (
    "(APIServer pid=12345) INFO 11-27 12:00:00 [metrics.py:101] SpecDecoding metrics: Mean "
    "acceptance length: 2.50, Accepted throughput: 15.00 tokens/s, Drafted throughput: 30.00 "
    "tokens/s, Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.800, "
    "0.500, 0.200, Avg Draft acceptance rate: 50.0%"
)


@pytest.mark.parametrize("prefix", ["", "vllm-1  | "])
@pytest.mark.parametrize("width", range(40, 200, 7))
def test_a_line_that_a_terminal_wrapped_is_whole_again(width: int, prefix: str) -> None:
    pieces = [WHOLE[at : at + width] for at in range(0, len(WHOLE), width)]
    log = "".join(f"{prefix}{piece}\n" for piece in pieces)
    (record,) = read_log(f"{log}2026-11-27 something else\n".encode()).records
    assert (record.accepted, record.drafted, record.num_drafts) == (150, 300, 100)
    assert record.per_position == (0.8, 0.5, 0.2)
    assert not record.truncated


@pytest.mark.parametrize("quote", ["'", '"'])
def test_what_somebody_sent_is_no_record(quote: str) -> None:
    """An engine that logs its requests prints their text."""
    for said in (WHOLE, "accepted 2340 / drafted 3000 = 78.0%"):
        log = (
            "(APIServer pid=1) INFO 11-27 12:00:00 [logger.py:39] Received request cmpl-1: "
            f"prompt: {quote}{said}{quote}, params: SamplingParams(n=1)"
        )
        assert read_log(log.encode()).records == ()


def test_thousands_may_be_set_apart() -> None:
    text = WHOLE.replace("150 tokens", "1,150 tokens").replace("300 tok", "2,300 tok")
    (record,) = read_log(text.encode()).records
    assert (record.accepted, record.drafted) == (1150, 2300)


@pytest.mark.parametrize(
    ("line", "backend"),
    [
        (
            "[2026-11-27 12:00:00 TP0] Decode batch. #running-req: 1, #token: 9",
            "sglang",
        ),
        (
            "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)",
            "llama.cpp",
        ),
    ],
)
def test_another_engine_is_named(line: str, backend: str) -> None:
    reading = read_log(line.encode())
    assert (reading.backend, reading.records) == (backend, ())

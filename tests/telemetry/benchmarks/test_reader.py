"""Reading results: every version's table and JSON, with whatever a terminal or runtime adds."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.benchmarks.documents import run_document, run_from_document
from deployments.telemetry.benchmarks.errors import BenchmarkError
from deployments.telemetry.benchmarks.reader import (
    LARGEST_BYTES,
    MOST_LINES,
    read_benchmark,
)
from deployments.telemetry.benchmarks.values import BenchmarkRun, RunSpeculation
from tests.telemetry.benchmarks.blocks import block, runs

RECORDED = Path(__file__).parents[1] / "fixtures" / "benchmarks"


def one(data: bytes) -> BenchmarkRun:
    (run,) = read_benchmark(data)
    return run


def test_every_row_of_the_table_is_read() -> None:
    (run,) = runs(block(speculation=True, failed=1, throughput=66.2, tpot=12.65))
    assert (run.completed, run.failed, run.max_concurrency) == (200, 1, 8)
    assert (run.output_tokens_per_s, run.mean_tpot_ms) == (66.2, 12.65)
    assert run.percentiles == {"median_ttft_ms": 110.0, "p99_ttft_ms": 300.0}
    assert run.peak_output_tokens_per_s == 25.0
    assert run.speculation is not None
    assert run.speculation.per_position == (0.8342, 0.7291, 0.6407)
    assert run.speculation.num_speculative_tokens == 3
    assert run.speculation.acceptance_rate == pytest.approx(14090 / 19179)
    assert run.speculation.mean_acceptance_length == pytest.approx(1 + 14090 / 6393)


@pytest.mark.parametrize("name", ["baseline", "suffix"])
def test_the_table_and_the_json_of_a_recorded_run_agree(name: str) -> None:
    table = one((RECORDED / f"{name}.txt").read_bytes())
    written = one((RECORDED / f"{name}.json").read_bytes())
    for field in ("output_tokens_per_s", "mean_tpot_ms", "mean_itl_ms", "duration_s"):
        assert getattr(table, field) == pytest.approx(
            getattr(written, field), abs=0.006
        )
    for field in ("completed", "failed", "max_concurrency", "request_rate", "model"):
        assert getattr(table, field) == getattr(written, field)
    assert (table.speculation is None) == (written.speculation is None)
    assert table.conditions["dataset_name"] == "random"


@pytest.mark.parametrize(
    "prefix",
    [
        "bench-1  | ",
        "2026-11-29T15:22:57.123456789Z ",
        "2026-11-29T15:22:57.123456789Z stdout F ",
        "[pod/bench-0/bench] ",
        "bench-0 bench ",
        "\x1b[36mbench\x1b[0m | \x1b[1m",
        "INFO 11-29 15:22:57 [serve.py:900] ",
    ],
)
def test_prefixes_and_colours_do_no_harm(prefix: str) -> None:
    plain = block(speculation=True)
    prefixed = "\n".join(prefix + line for line in plain.splitlines())
    assert one(prefixed.encode()) == one(plain.encode())


def test_docker_json_file_windows_ends_and_powershell_are_read() -> None:
    plain = block(speculation=True)
    docker = "\n".join(
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "t"})
        for line in plain.splitlines()
    )
    wanted = one(plain.encode())
    assert one(docker.encode()) == wanted
    assert one(plain.replace("\n", "\r\n").encode()) == wanted
    assert one(plain.encode("utf-16")) == wanted


def test_a_progress_bar_before_the_block_is_no_row() -> None:
    bar = "  0%|          | 0/24 [00:00<?, ?it/s]\r100%|####| 24/24 [00:02<00:00, 11.1it/s]\r"
    assert one((bar + block()).encode()) == one(block().encode())


def test_what_was_said_before_the_block_belongs_to_it() -> None:
    before = "Traffic request rate: inf\nBurstiness factor: 1.0 (Poisson process)\nMaximum request concurrency: 4\n"
    run = one((before + block(concurrency=None)).encode())
    assert (run.request_rate, run.burstiness, run.max_concurrency) == ("inf", 1.0, 4)


def test_a_capital_t_and_missing_rows_of_old_versions() -> None:
    old = "Successful requests:  10\nBenchmark duration (s):  2.00\nTotal Token throughput (tok/s):  50.5\nRequest goodput (req/s):  0.9\n"
    run = one(old.encode())
    assert (run.total_tokens_per_s, run.goodput_requests_per_s) == (50.5, 0.9)
    assert run.failed is None
    assert run.mean_tpot_ms is None


def test_blocks_without_headings_begin_where_a_label_comes_again() -> None:
    text = """# without
Benchmark duration (s):  63.81
Output token throughput (tok/s):  2993.85
# draft 1B
Speculative metrics: Draft acceptance rate: 0.797, System efficiency: 0.640, Number of speculative tokens: 5, Number of accepted tokens: 197711, Number of draft tokens: 248165, Number of emitted tokens: 190584.
Benchmark duration (s):  116.32
Output token throughput (tok/s):  1651.57
Benchmark duration (s):  1.5
"""
    first, second, third = read_benchmark(text.encode())
    assert (first.label, first.speculation) == ("without", None)
    assert second.speculation is not None
    assert second.speculation.num_drafts == 49633
    assert second.speculation.mean_acceptance_length == pytest.approx(190584 / 49633)
    assert (third.duration_s, third.speculation) == (1.5, None)


def test_a_speculative_section_alone_is_a_run() -> None:
    text = block(speculation=True).split("-Speculative")[1]
    first, second = read_benchmark(f"-Speculative{text}\n-Speculative{text}".encode())
    assert first == second
    assert first.output_tokens_per_s is None


def test_cut_output_keeps_what_is_there() -> None:
    text = block(speculation=True)
    run = one(text[: text.index("Accepted tokens")].encode())
    assert run.speculation is not None
    assert (run.speculation.drafted, run.speculation.accepted) == (19179, None)
    assert run.speculation.acceptance_rate == 0.7347


def test_unusable_numbers_are_unknown_and_never_zero() -> None:
    text = block().replace("1000.0", "nan").replace("102400", "-5").replace("120.5", "")
    run = one(text.encode())
    assert run.output_tokens_per_s is None
    assert run.generated_tokens is None
    assert run.mean_ttft_ms is None


def test_nothing_drafted_has_no_rate() -> None:
    written = {"output_throughput": 1.0, "spec_decode_num_drafts": 0, "spec_decode_draft_tokens": 0, "spec_decode_accepted_tokens": 0, "spec_decode_acceptance_rate": 0.0}  # fmt: skip
    run = one(json.dumps(written).encode())
    assert run.speculation == RunSpeculation(num_drafts=0, drafted=0, accepted=0)


def test_lists_sweeps_json_lines_and_pasted_json() -> None:
    result = json.loads((RECORDED / "suffix.json").read_text())
    twice = one(json.dumps(result).encode())
    other = result | {"duration": 3.0}
    lines = json.dumps(result) + "\n" + json.dumps(other)
    assert read_benchmark(lines.encode())[0] == twice
    assert len(read_benchmark(json.dumps([result, other]).encode())) == 2
    assert len(read_benchmark(json.dumps({"runs": {"a": [result]}}).encode())) == 1
    pasted = "$ cat bench.json\n" + json.dumps(result, indent=2) + "\n$ "
    assert one(pasted.encode()) == twice


def test_a_table_beside_its_json_is_one_run() -> None:
    both = (RECORDED / "suffix.txt").read_bytes() + (
        RECORDED / "suffix.json"
    ).read_bytes()
    assert one(both).source == "json"


def test_json_that_was_cut_is_read_as_far_as_it_goes() -> None:
    whole = json.dumps(json.loads((RECORDED / "suffix.json").read_text()), indent=1)
    run = one(whole[: whole.index('"mean_tpot_ms"')].encode())
    assert run.truncated
    assert run.output_tokens_per_s == pytest.approx(1817.565)
    assert run.mean_tpot_ms is None
    assert run.speculation is not None
    assert len(run.speculation.per_position or ()) == 8


def test_json_of_older_scripts_counts_failures_itself() -> None:
    run = one(
        b'{"num_prompts": 10, "completed": 9, "request_throughput": 1.5, "request_rate": "inf", "ttfts": [0.1]}'
    )
    assert (run.failed, run.requests, run.failure_share) == (1, 10, 0.1)


def test_what_is_no_result_is_one_clear_sentence() -> None:
    with pytest.raises(BenchmarkError, match="No benchmark result was found"):
        read_benchmark(b"hello")
    with pytest.raises(BenchmarkError, match="empty"):
        read_benchmark(b" \n")
    with pytest.raises(BenchmarkError, match="larger than 64 MiB"):
        read_benchmark(b" " * (LARGEST_BYTES + 1))
    with pytest.raises(BenchmarkError, match="only says that it has moved"):
        read_benchmark(
            b"DEPRECATED: benchmark_serving.py has moved, use vllm bench serve"
        )
    with pytest.raises(BenchmarkError, match="more than 1000 results"):
        read_benchmark(block().encode() * 1100)


@pytest.mark.parametrize(
    "hostile",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"\x00\xff\xfe" * 1000,
        b"Position 0: " * 5000,
        b"Mean TTFT (ms): " * 5000,
        b"={" * 30_000,
        b'{"output_throughput": ' + b"9" * 5000 + b"}",
    ],
)
def test_hostile_input_ends_in_a_result_or_a_sentence(hostile: bytes) -> None:
    try:
        found = read_benchmark(hostile)
    except BenchmarkError:
        return
    assert all(run.output_tokens_per_s is None for run in found)


@given(st.text(max_size=400))
def test_any_text_ends_in_a_result_or_a_sentence(text: str) -> None:
    try:
        said = len(read_benchmark(text.encode("utf-8", "replace")))
    except BenchmarkError as error:
        said = str(error).endswith(".")
    assert said


@pytest.mark.parametrize("line", [b"{\n", b"#\n", b":\n", b'{"log":"a"}\n'])
def test_too_many_lines_are_refused_before_they_are_read(line: bytes) -> None:
    hostile = line * (MOST_LINES + 1)
    started = time.process_time()
    with pytest.raises(BenchmarkError, match="more than 500,000 lines"):
        read_benchmark(hostile)
    assert time.process_time() - started < 0.5


def test_pieces_of_one_docker_line_are_put_together_in_linear_time() -> None:
    result = '{"duration": 1.5, "output_throughput": 2.5}'
    started = time.process_time()
    with pytest.raises(BenchmarkError, match="No benchmark result"):
        read_benchmark(b'{"log":"aaaaaaaa"}\n' * 200_000)
    assert time.process_time() - started < 3
    split = "\n".join(json.dumps({"log": piece}) for piece in (*result, "\n"))
    assert one(split.encode()).duration_s == 1.5
    assert one(b"noise\n" * 400_000 + block().encode()).completed == 200


def test_credentials_of_the_command_are_not_kept() -> None:
    said = "Namespace(header=['Authorization=Bearer sk-secret'], seed=0, base_url='https://u:p@h')\n"
    assert "secret" not in json.dumps(run_document(one((said + block()).encode())))


def test_a_run_survives_its_document() -> None:
    (run,) = runs(block(speculation=True))
    assert run_from_document(json.loads(json.dumps(run_document(run)))) == run

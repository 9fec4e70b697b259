"""Counting acceptance lines in bytes: every line once, whatever the pieces and the noise."""

import io
from pathlib import Path

import pytest

from deployments.telemetry.logs.counting import BLOCK_BYTES, count_acceptance
from deployments.telemetry.logs.reader import read_log

FIXTURES = Path(__file__).parent / "fixtures"
LINE = (
    "(APIServer pid=1) INFO 11-29 15:04:05 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.86, "
    "Accepted throughput: 74.20 tokens/s, Drafted throughput: 120.00 tokens/s, Accepted: 742 tokens, "
    "Drafted: 1200 tokens, Per-position acceptance rate: 0.861, 0.602, 0.392, Avg Draft acceptance rate: 61.8%\n"
)


@pytest.mark.parametrize("method", ["mtp", "eagle3", "ngram"])
def test_it_counts_what_the_reader_reads(method: str) -> None:
    log = (FIXTURES / f"vllm-0.32.0-{method}.log").read_bytes()
    counted, totals = count_acceptance(io.BytesIO(log)), read_log(log).totals
    assert (counted.accepted, counted.drafted) == (totals.accepted, totals.drafted)
    assert counted.unread == 0


@pytest.mark.parametrize(
    "noise",
    [
        "quiet\n" * 30,
        "DDDDDDDDSpecDecoding SpecDecodingSpecDecoding metrics\n" * 30,
        "D" * 700 + "\n",
    ],
    ids=["rare", "dense", "letters"],
)
def test_every_line_counts_once_across_blocks(noise: str) -> None:
    log = (noise + LINE) * (3 * BLOCK_BYTES // len(noise + LINE))
    counted = count_acceptance(io.BytesIO(log.encode()))
    assert counted.lines == log.count(LINE)
    assert counted.accepted == 742 * counted.lines


def test_long_lines_cut_lines_and_an_empty_log_do_no_harm() -> None:
    assert count_acceptance(io.BytesIO(b"")).lines == 0
    long = "x" * (3 * BLOCK_BYTES) + "\n"
    assert count_acceptance(io.BytesIO((long + LINE + LINE[:150]).encode())).lines == 1
    assert count_acceptance(io.BytesIO(LINE.rstrip("\n").encode())).lines == 1

"""A large log is scanned: the same answer as line by line, in little time and memory."""

import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from deployments.telemetry.logs.reader import LogReading, read_blocks, read_log
from deployments.telemetry.logs.scanning import LARGE_BYTES, is_plain

FIXTURES = Path(__file__).parent / "fixtures"
LOGS = sorted(FIXTURES.glob("*.log"))
NOISE = '(APIServer pid=1) INFO:     10.1.2.3:4{:04d} - "POST /v1/completions HTTP/1.1" 200 OK\n'


def noise(lines: int) -> str:
    return "".join(NOISE.format(number % 10_000) for number in range(lines))


def in_pieces(log: bytes, size: int) -> LogReading:
    return read_blocks(log[start : start + size] for start in range(0, len(log), size))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_scanning_finds_what_reading_finds(path: Path) -> None:
    log = path.read_bytes()
    assert len(log) < LARGE_BYTES
    if is_plain(log):
        assert in_pieces(log, 4096) == read_log(log)
        assert in_pieces(log, 64 * 1024) == read_log(log)


def test_the_rest_of_a_large_log_changes_nothing_but_line_numbers() -> None:
    small = (FIXTURES / "vllm-0.32.0-mtp.log").read_text()
    lines = small.splitlines(keepends=True)
    large = "".join(line + noise(13 * (place % 90)) for place, line in enumerate(lines))
    assert len(large) > LARGE_BYTES
    read, wanted = read_log(large.encode()), read_log(small.encode())
    strip = [replace(record, line=0) for record in read.records]
    assert strip == [replace(record, line=0) for record in wanted.records]
    for record in read.records:
        assert "SpecDecoding metrics" in large.splitlines()[record.line - 1]
    assert read.totals == wanted.totals
    assert replace(read.startup, line=0) == replace(wanted.startup, line=0)
    assert [one.code for one in read.diagnoses] == [
        one.code for one in wanted.diagnoses
    ]


def test_sixteen_megabytes_are_read_in_a_moment_and_constant_memory() -> None:
    block = (noise(3000) + "Address already in use\nKeyError: x\n" * 40).encode()
    log = block * (16 * 1024 * 1024 // len(block))
    started = time.process_time()
    (found,) = read_log(log).diagnoses
    assert time.process_time() - started < 6
    assert found.line == 3001
    tracemalloc.start()
    read_blocks(block for _ in range(40))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 1024 * 1024

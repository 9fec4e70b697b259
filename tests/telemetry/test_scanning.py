"""A large log is scanned: the same answer as line by line, in little time and memory."""

import random
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


FAILED = "(EngineCore pid=129) ERROR 11-29 15:04:05 [core.py:1] EngineDeadError: gone\n"


def noise(lines: int) -> str:
    return "".join(NOISE.format(number % 10_000) for number in range(lines))


def in_pieces(log: bytes, size: int) -> LogReading:
    pieces = (log[start : start + size] for start in range(0, len(log), size))
    return read_blocks(pieces, scanned=True)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_scanning_finds_what_reading_finds(path: Path) -> None:
    log = path.read_bytes()
    assert len(log) < LARGE_BYTES
    if is_plain(log):
        assert in_pieces(log, 4096) == read_log(log)
        assert in_pieces(log, 64 * 1024) == read_log(log)


@pytest.mark.parametrize("seed", range(12))
def test_any_mixture_is_read_alike(seed: int) -> None:
    """Stretches of real logs in any order, between lines that say nothing, in pieces of any size."""
    chance = random.Random(seed)  # noqa: S311
    logs = [log for path in LOGS if is_plain(log := path.read_bytes())]
    parts: list[bytes] = []
    for _ in range(120):
        lines = chance.choice(logs).split(b"\n")
        first = chance.randrange(len(lines))
        stretch = lines[first : first + chance.choice((1, 3, 40))]
        if chance.random() < 0.2:
            stretch = [line.replace(b"e", b"\xe2\x96", 1) for line in stretch]
        if chance.random() < 0.2:
            stretch = [line + b"\r" for line in stretch]
        if chance.random() < 0.1:
            stretch.append(b"x" * chance.choice((5_000, 70_000)))
        parts += [b"\n".join(stretch), chance.choice((b"\n", b"\n", b" \xe2\x96\x88 "))]
        parts.append(noise(chance.choice((0, 5, 80, 600))).encode())
    log = b"".join(parts)
    wanted = read_blocks([log], scanned=False)
    assert wanted.records
    assert in_pieces(log, chance.choice((3_000, 65_536, 1 << 20))) == wanted


def test_engines_are_told_apart_by_process_in_usual_and_other_lines() -> None:
    """The short way for lines of engines knows what the long way knows."""
    head = "(EngineCore_DP{0} pid={0}) INFO 11-29 15:04:05 [loggers.py:259] "
    figures = (
        "SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 15.00 tokens/s, "
        "Drafted throughput: 30.00 tokens/s, Accepted: 150 tokens, Drafted: 300 tokens, "
        "Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%\n"
    )
    lines = [noise(600)]
    for number in range(40):
        of = head.format(number % 4)
        lines += [noise(100), of, f"Engine {number:03d}: Running: 1 reqs\n"]
        lines += [noise(30), head.format((number + 1) % 4), figures]
        if number == 30:
            lines.append(of + "4 Engines Aggregated: Running: 1 reqs\n")
    log = "".join(lines).encode()
    wanted = read_blocks([log], scanned=False)
    assert len({record.engine for record in wanted.records}) > 30
    assert in_pieces(log, 1 << 16) == wanted


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


def test_what_fills_a_log_in_vain_changes_no_answer() -> None:
    """Pieces of the words stand in a line that comes a thousand times; then the words do."""
    error = "(EngineCore pid=9) ERROR 11-29 15:04:05 [core.py:710] OutOfMemory: is not there, size {0}\n"
    lines = [error.format(0), noise(600)]
    for number in range(1000):
        lines += [noise(60), error.format(number)]
    lines += [
        noise(60),
        "ValueError: min_p is not yet supported with speculative decoding\n",
    ]
    log = "".join(lines).encode()
    wanted = read_blocks([log], scanned=False)
    assert [one.code for one in wanted.diagnoses] == ["MIN_P_REFUSED"]
    assert in_pieces(log, 1 << 16) == wanted


def test_a_line_that_comes_often_is_passed_over_and_its_neighbours_are_not() -> None:
    """A known failure is said behind, before and within lines that came often and say nothing new."""
    oom = (
        "(EngineCore pid=129) ERROR 11-29 15:04:05 [core.py:710] torch.OutOfMemoryError: CUDA out "
        "of memory. Tried to allocate 2.32 GiB.\n"
    )
    longer = oom.replace("torch.Out", "safetensors_rust.SafetensorError: torch.Out")
    other = (
        oom.split("torch", maxsplit=1)[0]
        + "There is no module or parameter named 'x' in Y\n"
    )
    often = (oom + noise(45)) * 20
    for said in (oom + other, other + oom, longer):
        log = (noise(500) + often + said + often + FAILED).encode()
        wanted = read_blocks([log], scanned=False)
        assert len(wanted.diagnoses) > 1
        assert in_pieces(log, 1 << 20) == wanted


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

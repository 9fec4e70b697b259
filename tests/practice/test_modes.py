"""The modes: every way in which the practice engine can be told to misbehave."""

import itertools
import re
import time

import pytest

from deployments.telemetry.diagnosis import diagnose_text
from deployments.telemetry.logs.reader import read_log
from deployments.telemetry.logs.startup import StartupReader
from tests.practice.running import Running, run, speculation

QUIET = {"PRACTICE_TRAFFIC": "0", "PRACTICE_STEP_TIME": "0"}
MTP = speculation("mtp", 3)


def test_sigterm_ends_within_a_second_and_cleanly() -> None:
    with Running(*MTP) as server:
        code, seconds = server.ready().terminate()
        assert code == 0
        assert seconds < 1
        assert b"[shutdown] API server: shutdown triggered" in server.output
        assert diagnose_text(server.output.decode()) == ()


def test_slow_stop_takes_its_time() -> None:
    with Running(PRACTICE_SLOW_STOP="1.5", **QUIET) as server:
        code, seconds = server.ready().terminate()
    assert code == 0
    assert seconds >= 1.5


def test_exit_after_ends_with_the_code() -> None:
    start = time.monotonic()
    done = run(
        *("serve", "m", "--port", "0"),
        env={"PRACTICE_EXIT_AFTER": "0.6", "PRACTICE_EXIT_CODE": "7"},
    )
    assert done.returncode == 7
    assert time.monotonic() - start >= 0.6
    assert [found.code for found in diagnose_text(done.stdout.decode())] == [
        "ENGINE_DIED"
    ]


def test_hang_never_gets_ready_but_stops() -> None:
    with Running(PRACTICE_HANG="1") as server:
        server.wait_for(lambda output: b"Starting to load model" in output)
        time.sleep(0.5)
        assert b"Starting vLLM server" not in server.output
        assert not server.ended
        assert server.terminate()[0] == 0


@pytest.mark.parametrize(
    ("value", "statuses"), [("1", {503}), ("after:0.5", {200, 503})]
)
def test_unhealthy_answers_503(value: str, statuses: set[int]) -> None:
    with Running(PRACTICE_UNHEALTHY=value, **QUIET) as server:
        server.ready()
        seen = {server.get("/health")[0]}
        time.sleep(0.8)
        seen.add(server.get("/health")[0])
    assert seen == statuses


def test_unhealthy_toggles() -> None:
    with Running(PRACTICE_UNHEALTHY="toggle:0.2", **QUIET) as server:
        server.ready()
        seen: list[int] = []
        for _ in range(40):
            seen.append(server.get("/health")[0])
            time.sleep(0.02)
    changes = sum(before != after for before, after in itertools.pairwise(seen))
    assert changes >= 2


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("1", "DEVICE_OUT_OF_MEMORY"),
        ("npu", "DEVICE_OUT_OF_MEMORY"),
        ("shm", "SHARED_MEMORY_TOO_SMALL"),
        ("kv", "KV_CACHE_TOO_SMALL"),
    ],
)
def test_out_of_memory_ends_the_start_with_the_real_words(kind: str, code: str) -> None:
    done = run("serve", "m", "--port", "0", env={"PRACTICE_OUT_OF_MEMORY": kind})
    assert done.returncode == 1
    assert [found.code for found in diagnose_text(done.stdout.decode())] == [code]
    assert b"Engine core initialization failed" in done.stderr


def test_noise_carries_every_serial_number_once() -> None:
    with Running(PRACTICE_LOG_RATE="500", PRACTICE_EXIT_AFTER="1.5", **QUIET) as server:
        server.exit_code()
        serials = [int(n) for n in re.findall(rb"serial=(\d+)", server.output)]
    assert serials == list(range(1, len(serials) + 1))
    assert len(serials) == pytest.approx(700, abs=100)


def test_hostile_bytes_lose_no_record() -> None:
    settings = {"PRACTICE_TRAFFIC": "20", "VLLM_LOG_STATS_INTERVAL": "0.3"}
    with Running(*MTP, PRACTICE_BAD_BYTES="1", **settings) as server:
        output = server.wait_for(lambda text: text.count(b"SpecDecoding") >= 3)
    lines = output[: output.rindex(b"\n")]
    assert b"\xff\xfe" in output
    assert b"\x00" in output
    assert b"\r" in output
    assert len(read_log(lines).records) == lines.count(b"SpecDecoding")


def test_long_lines_lose_no_record() -> None:
    settings = {"PRACTICE_TRAFFIC": "20", "VLLM_LOG_STATS_INTERVAL": "0.3"}
    with Running(*MTP, PRACTICE_LONG_LINES="1", **settings) as server:
        output = server.wait_for(lambda text: text.count(b"SpecDecoding") >= 2)
        output = server.wait_for(lambda text: len(text) > len(output))
    lines = output[: output.rindex(b"\n")].split(b"\n")
    lengths = [len(line) for line in lines]
    spec = [line for line in lines if b"SpecDecoding" in line]
    assert max(lengths) > 1_000_000
    assert any(40_000 < length < 41_000 for length in lengths)
    assert all(len(line) > 16 * 1024 for line in spec)
    records = read_log(b"\n".join(lines)).records
    assert len(records) == len(spec)
    assert all(record.accepted is not None for record in records)


def test_wrong_model_is_served_under_another_name() -> None:
    flags = ("--served-model-name", "glm")
    with Running(*flags, PRACTICE_WRONG_MODEL="llama", **QUIET) as server:
        text = server.ready().get("/v1/models")[1]
    assert '"id": "llama"' in text
    assert '"id": "glm"' not in text


def test_speculation_can_be_off_against_the_command_line() -> None:
    settings = {"PRACTICE_TRAFFIC": "20", "VLLM_LOG_STATS_INTERVAL": "0.2"}
    with Running(*MTP, PRACTICE_SPECULATION_OFF="1", **settings) as server:
        output = server.wait_for(lambda text: text.count(b"Engine 000:") >= 2)
        metrics = server.get("/metrics")[1]
    assert StartupReader().feed(output.decode()).speculation is False
    assert read_log(output).records == ()
    assert "spec_decode" not in metrics


def test_statistics_can_be_off() -> None:
    settings = {"PRACTICE_TRAFFIC": "20", "VLLM_LOG_STATS_INTERVAL": "0.2"}
    with Running(*MTP, "--disable-log-stats", **settings) as server:
        server.ready()
        time.sleep(0.6)
        assert b"SpecDecoding" not in server.output
        assert "vllm:" not in server.get("/metrics")[1]


def test_headless_engine_has_no_http_side() -> None:
    with Running(*MTP, "--headless", PRACTICE_EXIT_AFTER="1", **QUIET) as server:
        assert server.exit_code() == 1
        assert b"Initializing a V1 LLM engine" in server.output
        assert b"Starting vLLM server" not in server.output

"""What the practice engine prints, what it exports and what the panel reads are one."""

import pytest

from deployments.telemetry.acceptance_history import Counts, counts_of_record, total
from deployments.telemetry.logs.reader import LogReading, read_log
from deployments.telemetry.logs.startup import StartupReader
from deployments.telemetry.prometheus import read_metrics
from tests.practice.running import Running, speculation

QUIET = {"PRACTICE_TRAFFIC": "0", "PRACTICE_STEP_TIME": "0"}
METHODS = [
    ("mtp", 3, {}),
    ("eagle3", 4, {"model": "/models/head"}),
    ("draft_model", 1, {"model": "/models/draft"}),
    ("ngram", 5, {}),
    ("suffix", 8, {}),
]


def counted(reading: LogReading) -> Counts:
    return total(counts for r in reading.records if (counts := counts_of_record(r)))


@pytest.mark.parametrize(("method", "count", "more"), METHODS)
def test_printed_windows_add_up_to_the_exported_counters(
    method: str, count: int, more: dict[str, str]
) -> None:
    settings = {**QUIET, "VLLM_LOG_STATS_INTERVAL": "0.5"}
    with Running(*speculation(method, count, **more), **settings) as server:
        server.ready()
        for number in range(6):
            body = {"prompt": f"hello {number}", "max_tokens": 120}
            assert server.post("/v1/completions", body)[0] == 200
        # The line of an idle interval comes after every request was counted.
        output = server.wait_for(
            lambda text: b"Avg generation throughput: 0.0 tokens/s" in text
        )
        metrics = read_metrics(server.get("/metrics")[1])
    reading = read_log(output)
    printed = counted(reading)
    exported = metrics.engines["0"]
    assert (printed.accepted, printed.drafted) == (exported.accepted, exported.drafted)
    assert printed.num_drafts == pytest.approx(exported.num_drafts, abs=2)
    assert printed.per_position == pytest.approx(exported.accepted_per_position, abs=2)
    assert metrics.consistent is True
    assert exported.num_speculative_tokens == count
    assert reading.diagnoses == ()


def test_each_line_agrees_with_itself() -> None:
    settings = {"PRACTICE_TRAFFIC": "20", "VLLM_LOG_STATS_INTERVAL": "0.4"}
    with Running(*speculation("mtp", 3), **settings) as server:
        output = server.wait_for(lambda text: text.count(b"SpecDecoding") >= 3)
    for record in read_log(output).records:
        assert record.accepted is not None
        assert record.num_drafts
        length = 1 + record.accepted / record.num_drafts
        assert record.mean_acceptance_length_printed == pytest.approx(length, abs=0.006)
        assert record.acceptance_rate_printed == pytest.approx(
            record.acceptance_rate, abs=0.0006
        )
        assert sum(record.per_position or ()) == pytest.approx(length - 1, abs=0.002)
        assert record.window_s == pytest.approx(0.4, abs=0.2)


def test_data_parallel_engines_print_and_export_apart() -> None:
    flags = (*speculation("mtp", 2), "--data-parallel-size", "2")
    settings = {"PRACTICE_TRAFFIC": "20", "VLLM_LOG_STATS_INTERVAL": "0.4"}
    with Running(*flags, **settings) as server:
        output = server.wait_for(lambda text: text.count(b"SpecDecoding") >= 4)
        metrics = read_metrics(server.get("/metrics")[1])
    assert {record.engine for record in read_log(output).records} == {0, 1}
    assert set(metrics.engines) == {"0", "1"}


def test_same_seed_gives_the_same_tokens() -> None:
    def accepted() -> int | None:
        settings = {**QUIET, "PRACTICE_SEED": "7", "PRACTICE_ACCEPTANCE": "0.9,0.5"}
        with Running(*speculation("mtp", 2), **settings) as server:
            server.ready().post("/v1/completions", {"prompt": "a", "max_tokens": 300})
            return read_metrics(server.get("/metrics")[1]).engines["0"].accepted

    first = accepted()
    assert first == accepted()
    assert first


def test_asked_for_acceptance_is_what_comes_out() -> None:
    settings = {**QUIET, "PRACTICE_ACCEPTANCE": "0.8,0.6,0.4"}
    with Running(*speculation("mtp", 3), **settings) as server:
        server.ready()
        for _ in range(3):
            server.post("/v1/completions", {"prompt": "a", "max_tokens": 4096})
        engine = read_metrics(server.get("/metrics")[1]).engines["0"]
    assert list(engine.per_position.values()) == pytest.approx(
        [0.8, 0.6, 0.4], abs=0.04
    )


@pytest.mark.parametrize(
    ("method", "count", "more", "read"),
    [
        ("mtp", 3, {}, ("mtp", None)),
        ("deepseek_mtp", 2, {}, ("mtp", None)),
        ("eagle3", 3, {"model": "/models/head"}, ("eagle3", "/models/head")),
        ("ngram", 4, {}, ("ngram", None)),
    ],
)
def test_startup_lines_tell_method_count_and_drafter(
    method: str, count: int, more: dict[str, str], read: tuple[str, str | None]
) -> None:
    reader = StartupReader()
    with Running(*speculation(method, count, **more), **QUIET) as server:
        facts = reader.feed(server.ready().output.decode())
    assert facts.speculation is True
    assert (facts.method, facts.drafter) == read
    assert facts.num_speculative_tokens == count
    assert facts.engine_version == "0.32.0"


def test_without_traffic_there_is_no_line_and_no_zero() -> None:
    settings = {**QUIET, "VLLM_LOG_STATS_INTERVAL": "0.1", "PRACTICE_EXIT_AFTER": "1"}
    with Running(*speculation("mtp", 3), **settings) as server:
        server.exit_code()
        reading = read_log(server.output)
    assert reading.records == ()
    assert reading.totals.acceptance_rate is None


def test_a_prefill_engine_drafts_nothing() -> None:
    transfer = '{"kv_connector": "NixlConnector", "kv_role": "kv_producer"}'
    flags = (*speculation("mtp", 1), "--kv-transfer-config", transfer)
    with Running(*flags, **QUIET) as server:
        server.ready().post("/v1/completions", {"prompt": "a", "max_tokens": 50})
        engine = read_metrics(server.get("/metrics")[1]).engines["0"]
    assert engine.drafted == 0
    assert engine.acceptance_rate is None

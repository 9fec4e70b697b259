"""How engines serve is read from scrapes by whatever name the release uses."""

from pathlib import Path

import pytest

from deployments.telemetry.serving import (
    FIRST,
    OUTPUT,
    Histogram,
    fell,
    grown,
    histogram_from,
    histogram_of,
    merged,
    read_serving,
)

SCRAPE = (
    Path(__file__).parent / "fixtures" / "vllm-0.32.0-mtp-serving.prom"
).read_text()
OLD = """\
vllm:time_per_output_token_seconds_bucket{engine="0",le="0.01",model_name="m"} 1.0
vllm:time_per_output_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 4.0
vllm:time_per_output_token_seconds_count{engine="0",model_name="m"} 4.0
vllm:time_per_output_token_seconds_sum{engine="0",model_name="m"} 0.5
vllm:gpu_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 2.0
"""


def test_a_scrape_of_0_32_tells_latencies_requests_and_tokens() -> None:
    read = read_serving(SCRAPE)
    assert read.output_from == "request_time_per_output_token_seconds"
    assert read.process_started == pytest.approx(1795966122.91)
    engine = read.engines["0"]
    assert (engine.running, engine.waiting, engine.cache) == (0.0, 0.0, 0.0)
    assert engine.totals["generated"] == 9632
    assert engine.totals["requests"] == 33
    assert histogram_of(engine.totals, FIRST).count == 33
    output = histogram_of(engine.totals, OUTPUT)
    assert (output.count, sum(output.le.values())) == (33, 33)
    assert output.quantile(0.5) == pytest.approx(0.005)


def test_older_names_are_understood_and_engines_kept_apart() -> None:
    read = read_serving(OLD)
    assert read.output_from == "time_per_output_token_seconds"
    assert read.engines["0"].cache == 0.25
    assert [read.engines[key].running for key in ("0", "1")] == [3.0, 2.0]
    assert read.engines["1"].cache is None


def test_time_between_steps_is_only_taken_when_nothing_better_is_there() -> None:
    renamed = OLD.replace("time_per_output_token", "inter_token_latency")
    assert read_serving(renamed).output_from == "inter_token_latency_seconds"
    assert read_serving(OLD + renamed).output_from.startswith("time_per_output")


def test_text_that_is_no_scrape_reads_as_nothing() -> None:
    for words in ("", "<html>", "vllm:x{ 1", 'vllm:a_bucket{le="x"} 1', "\x00" * 50):
        assert not read_serving(words).engines


def test_totals_grow_by_their_difference_or_from_nothing() -> None:
    before, now = {"generated": 10.0}, {"generated": 14.0, "requests": 2.0}
    assert grown(now, before, anew=False) == {"generated": 4.0, "requests": 2.0}
    assert grown(now, before, anew=True) == now
    assert fell(before, now)
    assert not fell(now, before)


def test_quantiles_lie_between_the_bounds_of_their_bucket() -> None:
    one = Histogram(sum=9.0, count=10, le={"0.1": 5, "0.2": 4, "+Inf": 1})
    assert one.quantile(0.5) == pytest.approx(0.1)
    assert one.quantile(0.9) == pytest.approx(0.2)
    assert one.quantile(0.99) == 0.2
    assert one.mean == pytest.approx(0.9)
    assert Histogram().quantile(0.5) is None
    assert Histogram(count=1, le={"+Inf": 1}).quantile(0.5) is None


def test_histograms_add_up_bucket_by_bucket_and_survive_a_row() -> None:
    one = Histogram(sum=1.0, count=3, le={"0.1": 1, "0.5": 2})
    two = Histogram(sum=2.0, count=2, le={"0.1": 1, "1.0": 1})
    both = merged([one, histogram_from(two.document)])
    assert (both.sum, both.count) == (3.0, 5)
    assert both.le == {"0.1": 2, "0.5": 2, "1.0": 1}

"""Scrapes: counters by engine, and what is not exported stays unknown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.prometheus import read_metrics


def series(name: str, value: object, **labels: str) -> str:
    inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"vllm:spec_decode_{name}{{{inside}}} {value}"


def scrape(*lines: str) -> str:
    return "\n".join(lines) + "\n"


FULL = scrape(
    "# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.",
    series("num_drafts_total", "1e+03", engine="0", model_name="m"),
    series("num_drafts_created", "1.79e+09", engine="0", model_name="m"),
    series("num_draft_tokens_total", "3000.0", engine="0", model_name="m"),
    series("num_accepted_tokens_total", "1500.0", engine="0", model_name="m"),
    *(
        series(
            "num_accepted_tokens_per_pos_total",
            value,
            engine="0",
            model_name="m",
            position=position,
        )
        for position, value in (("0", 800.0), ("1", 500.0), ("2", 200.0))
    ),
)


def test_counters_become_rates() -> None:
    reading = read_metrics(FULL)
    engine = reading.engines["0"]
    assert (engine.num_drafts, engine.drafted, engine.accepted) == (1000, 3000, 1500)
    assert (engine.acceptance_rate, engine.mean_acceptance_length) == (0.5, 2.5)
    assert engine.num_speculative_tokens == 3
    assert engine.per_position == {"0": 0.8, "1": 0.5, "2": 0.2}
    assert engine.accepted_per_position == (800, 500, 200)
    assert reading.backend == "vllm"
    assert reading.consistent is True


BARE = "\n".join(line for line in FULL.splitlines() if not line.startswith("#"))
PROMPT = """root@gpu-1:~# curl localhost:8000/metrics | grep vllm:spec_decode
  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
100 38652  100 38652    0     0  9841k      0 --:--:-- --:--:-- --:--:-- 12.2M
"""


@pytest.mark.parametrize(
    "pasted",
    [
        BARE,
        BARE.replace("\n", "\r\n"),
        PROMPT + BARE,
        f"{FULL}# EOF\n",
        BARE.replace("3000.0", '3000.0 # {trace_id="a1"} 1.0 1764547200.1'),
        BARE.replace(".0\n", ".0 1764547200000\n"),
        "\ufeff" + BARE,
        BARE.replace('"', "&quot;"),
        BARE.replace("vllm:", "vllm_"),
        BARE.replace("\n", " "),
        FULL + FULL,
        *(
            "\n".join(prefix + line for line in BARE.splitlines())
            for prefix in ("    ", "> ", "1207:", "metrics.txt:", "[pod/m-0/vllm] ")
        ),
    ],
)
def test_what_was_pasted_around_a_scrape_does_not_change_it(pasted: str) -> None:
    assert read_metrics(pasted) == read_metrics(FULL)


def test_the_answer_of_a_query_is_read() -> None:
    metric = {"engine": "0", "model_name": "m"}
    values: dict[str, dict[str, object]] = {
        "num_drafts": {"value": [1764547200.1, "1000"]},
        "num_draft_tokens": {"values": [[1, "7"], [2, "3000"]]},
        "num_accepted_tokens": {"value": [1764547200.1, "NaN"]},
    }
    results = [
        value | {"metric": {**metric, "__name__": f"vllm:spec_decode_{name}_total"}}
        for name, value in values.items()
    ]
    answer = {"status": "success", "data": {"result": results}}
    reading = read_metrics(f"$ curl prometheus/query\n{json.dumps(answer, indent=1)}")
    engine = reading.engines["0"]
    assert (engine.num_drafts, engine.drafted, engine.accepted) == (1000, 3000, None)
    assert [str(note) for note in reading.notes] == [
        "1 speculative series have no usable value."
    ]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ('{"data": {"result": [{"metric": {}, "value": [1, "2"]}]}}', "without sum"),
        ('{"detail": "Not Found", "metric"', "no scrape of an engine"),
        ("<html>502 Bad Gateway</html>", "no scrape of an engine"),
        ("", "no scrape of an engine"),
        ('{"metric":' * 20_000, "no scrape of an engine"),
        (FULL + FULL.replace("1500.0", "1600.0"), "Read one scrape at a time"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(sent: str, said: str) -> None:
    reading = read_metrics(sent)
    (note,) = reading.notes
    assert said in str(note)
    assert all(one.accepted is None for one in reading.engines.values())


def test_counters_that_contradict_each_other_are_noted() -> None:
    reading = read_metrics(FULL.replace("1500.0", "1600.0"))
    assert reading.consistent is False
    assert reading.notes


def test_engines_are_summed_for_one_model() -> None:
    lines = [
        series(name, value, engine=engine, model_name="m")
        for engine in ("0", "1")
        for name, value in (
            ("num_draft_tokens_total", 100),
            ("num_accepted_tokens_total", 40),
        )
    ]
    totals = read_metrics(scrape(*lines)).totals
    assert totals is not None
    assert (totals.accepted, totals.drafted, totals.acceptance_rate) == (80, 200, 0.4)
    assert totals.num_drafts is None


def test_several_models_are_never_added_up() -> None:
    reading = read_metrics(
        scrape(
            series("num_accepted_tokens_total", 10, model_name="a"),
            series("num_accepted_tokens_total", 20, model_name="b"),
        )
    )
    assert set(reading.engines) == {"a/-", "b/-"}
    assert reading.totals is None


def test_speculation_off_exports_nothing() -> None:
    reading = read_metrics('vllm:generation_tokens_total{engine="0"} 40.0\n')
    assert reading.speculation is False
    assert reading.engines == {}
    assert reading.totals is None
    assert reading.consistent is None


def test_counters_at_zero_have_no_rate() -> None:
    engine = read_metrics(
        scrape(
            series("num_drafts_total", 0.0, engine="0"),
            series("num_draft_tokens_total", 0.0, engine="0"),
            series("num_accepted_tokens_total", 0.0, engine="0"),
        )
    ).engines["0"]
    assert engine.drafted == 0
    assert engine.acceptance_rate is None
    assert engine.mean_acceptance_length is None


def test_v0_gauge_is_the_rate() -> None:
    reading = read_metrics(series("draft_acceptance_rate", 0.41, model_name="m"))
    assert reading.totals is not None
    assert reading.totals.acceptance_rate == 0.41


def test_position_label_on_the_main_counter_is_summed() -> None:
    reading = read_metrics(
        scrape(
            series("num_accepted_tokens_total", 5.0, engine="0", position="0"),
            series("num_accepted_tokens_total", 3.0, engine="0", position="1"),
        )
    )
    assert reading.totals is not None
    assert reading.totals.accepted == 8


def test_pasted_table_is_read() -> None:
    text = 'vllm:spec_decode_num_drafts_total{engine="0", job="v"} | 22\n-- | --\n'
    assert read_metrics(text).engines["0"].num_drafts == 22


def test_labels_may_hold_anything() -> None:
    name = 'a \\"b\\" , } { = \\\\'
    reading = read_metrics(series("num_drafts_total", 7, engine="0", model_name=name))
    assert reading.engines["0"].num_drafts == 7
    assert reading.engines["0"].model == 'a "b" , } { = \\'


def test_other_backends_with_the_same_names_are_told_apart() -> None:
    reading = read_metrics(
        "llamacpp:spec_decode_num_draft_tokens 35\n"
        "llamacpp:spec_decode_num_accepted_tokens 14\n"
    )
    assert reading.backend == "llama.cpp"
    assert reading.engines["-"].acceptance_rate == 0.4


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "1e300", "1.2.3", ""])
def test_impossible_values_are_left_out_and_noted(value: str) -> None:
    reading = read_metrics(series("num_drafts_total", value, engine="0"))
    assert reading.engines == {}
    assert reading.notes


@given(st.text(max_size=500))
def test_any_text_can_be_read(text: str) -> None:
    assert read_metrics("vllm:spec_decode_num_drafts_total" + text).engines is not None

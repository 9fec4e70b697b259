"""Every shape of the metric line gives the same kind of record, and unknown stays unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.logs.acceptance import (
    AcceptanceRecord,
    RecordFormat,
    acceptance_of,
    parse_acceptance,
    usual_record,
)
from deployments.telemetry.logs.lines import parse_line

CURRENT = (
    "SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 15.00 tokens/s, "
    "Drafted throughput: 30.00 tokens/s, Accepted: 150 tokens, Drafted: 300 tokens, "
    "Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%"
)


def parsed(text: str) -> AcceptanceRecord:
    record = parse_acceptance(text)
    assert record is not None
    return record


def test_current_line_gives_every_field() -> None:
    record = parsed(f"(APIServer pid=9) INFO 11-29 15:31:40 [metrics.py:120] {CURRENT}")
    assert record.format is RecordFormat.V1
    assert (record.accepted, record.drafted, record.num_drafts) == (150, 300, 100)
    assert (record.acceptance_rate, record.mean_acceptance_length) == (0.5, 2.5)
    assert record.per_position == (0.8, 0.5, 0.2)
    assert record.num_speculative_tokens == 3
    assert (record.accepted_tokens_per_s, record.drafted_tokens_per_s) == (15.0, 30.0)
    assert record.window_s == 10.0
    assert (record.process, record.pid) == ("APIServer", 9)
    assert not record.truncated
    assert not record.cumulative


@pytest.mark.parametrize(
    ("text", "accepted", "drafted", "length", "count"),
    [
        (  # 0.8.2 to 0.8.3, first form
            (
                "Speculative metrics: Draft acceptance rate: 0.500, "
                "Number of accepted tokens: 30, Number of draft tokens: 60, "
            ),
            *(30, 60, None, None),
        ),
        (  # 0.8.3 and 0.8.4
            (
                "SpecDecoding metrics: Draft acceptance rate: 50.0%, Accepted: 30 tokens, "
                "Drafted: 60 tokens"
            ),
            *(30, 60, None, None),
        ),
        (  # 0.8.5: the printed length lacks the bonus token
            (
                "SpecDecoding metrics: Draft acceptance rate: 50.0%, "
                "Mean acceptance length: 1.00, Accepted: 30 tokens, Drafted: 60 tokens, "
                "Per-position acceptance rate: 0.700, 0.300"
            ),
            *(30, 60, 2.0, 2),
        ),
        (  # 0.9 to 0.10.1
            (
                "SpecDecoding metrics: Draft acceptance rate: 50.0%, "
                "Mean acceptance length: 2.00, Accepted: 30 tokens, Drafted: 60 tokens, "
                "Per-position acceptance rate: 0.700, 0.300"
            ),
            *(30, 60, 2.0, 2),
        ),
        (  # shortened by a person: the count follows from length and rate
            (
                "SpecDecoding metrics: Mean acceptance length: 1.90, Accepted: 90 tokens, "
                "Drafted: 100 tokens"
            ),
            *(90, 100, 1.9, 1),
        ),
        (  # a fork with a field of its own
            (
                "SpecDecoding metrics: Mean acceptance length: 2.00, Current speculative "
                "depth: 2, Accepted: 30 tokens, Drafted: 60 tokens"
            ),
            *(30, 60, 2.0, 2),
        ),
    ],
)
def test_older_and_shortened_lines(
    text: str, accepted: int, drafted: int, length: float | None, count: int | None
) -> None:
    record = parsed(text)
    assert (record.accepted, record.drafted) == (accepted, drafted)
    assert record.mean_acceptance_length == length
    assert record.num_speculative_tokens == count
    assert record.format is RecordFormat.V1
    assert not record.truncated


def test_v0_counts_since_the_start_and_has_its_own_length() -> None:
    record = parsed(
        "INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: "
        "0.600, System efficiency: 0.500, Number of speculative tokens: 4, Number of accepted "
        "tokens: 2400, Number of draft tokens tokens: 4000, Number of emitted tokens tokens: 2500."
    )
    assert record.format is RecordFormat.V0
    assert record.cumulative
    assert (record.emitted, record.num_drafts) == (2500, 1000)
    assert record.acceptance_rate == 0.6
    assert record.mean_acceptance_length == 2.5


def test_rust_front_end_is_recognised() -> None:
    record = parsed(
        f"(RustFrontend pid=3) INFO 09-17 15:57:17 [log_stats.rs:273] {CURRENT}"
    )
    assert record.format is RecordFormat.RUST
    assert record.accepted == 150


def test_line_inside_json_is_whole() -> None:
    record = parsed('{"levelname": "INFO", "message": "' + CURRENT + '"}')
    assert not record.truncated
    assert record.acceptance_rate_printed == 0.5


@pytest.mark.parametrize(
    ("said", "accepted", "drafted", "rate"),
    [
        ("accepted 2,340 / drafted 3,000 = 78.0%", 2340, 3000, 0.78),
        (
            "accepted 12,345,678 / drafted 23,000,000 (53.7 %)",
            12345678,
            23000000,
            0.537,
        ),
        ("accepted 999 / drafted 3,000, as usual", 999, 3000, None),
    ],
)
def test_thousands_may_be_set_apart(
    said: str, accepted: int, drafted: int, rate: float | None
) -> None:
    record = parsed(said)
    assert (record.accepted, record.drafted) == (accepted, drafted)
    assert record.acceptance_rate_printed == rate


@pytest.mark.parametrize(
    "said", ["2,34 / drafted 3,000", "2340 / drafted 3000,500", "23,400 / drafted 3,00"]
)
def test_amounts_with_commas_elsewhere_are_not_guessed(said: str) -> None:
    assert parse_acceptance(f"accepted {said}") is None


def test_seed_line_is_a_record() -> None:
    record = parsed("accepted 2340 / drafted 3000 = 78.0%")
    assert record.format is RecordFormat.SEED
    assert (record.accepted, record.drafted, record.acceptance_rate) == (
        2340,
        3000,
        0.78,
    )
    assert record.mean_acceptance_length is None


def test_short_drafts_are_counted_by_position_not_by_division() -> None:
    # 100 drafts of up to 3 tokens, some shorter: 285 / 3 = 95 would be wrong.
    record = parsed(
        "SpecDecoding metrics: Mean acceptance length: 2.50, Accepted: 150 tokens, Drafted: "
        "285 tokens, Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance "
        "rate: 52.6%"
    )
    assert record.num_drafts == 100
    assert record.mean_acceptance_length == 2.5


@pytest.mark.parametrize(
    "text",
    [
        "SpecDecoding metrics: Draft acceptance rate: nan%, Accepted: 0 tokens, Drafted: 0 tokens",
        "SpecDecoding metrics: Mean acceptance length: nan, Accepted: 0 tokens",
        "SpecDecoding metrics: Mean acceptance length: 1.00, Accepted: 0 tokens, Drafted: 0 tokens",
    ],
)
def test_nothing_drafted_is_unknown_not_zero(text: str) -> None:
    record = parsed(text)
    assert record.acceptance_rate is None
    assert record.mean_acceptance_length is None
    assert record.num_drafts is None


def test_integers_without_decimals_are_speeds_too() -> None:
    record = parsed(
        "SpecDecoding metrics: Mean acceptance length: 1.00, Accepted throughput: 0 tokens/s, "
        "Drafted throughput: 7 tokens/s, Accepted: 0 tokens, Drafted: 70 tokens, "
        "Per-position acceptance rate: 0.0, Avg Draft acceptance rate: 0.0%"
    )
    assert record.drafted_tokens_per_s == 7.0
    assert record.window_s == 10.0
    assert record.acceptance_rate == 0.0


@pytest.mark.parametrize("end", range(len("SpecDecoding metrics: M"), len(CURRENT)))
def test_a_cut_line_never_invents_a_value(end: int) -> None:
    whole, record = parsed(CURRENT), parse_acceptance(CURRENT[:end])
    if record is None:
        assert end < len("SpecDecoding metrics: Mean acceptance length:")
        return
    assert record.accepted in (None, whole.accepted)
    assert record.drafted in (None, whole.drafted)
    assert record.mean_acceptance_length_printed in (None, 2.5)
    assert record.accepted_tokens_per_s in (None, 15.0)
    assert record.per_position in (None, whole.per_position)
    assert record.acceptance_rate_printed in (None, whole.acceptance_rate_printed)
    text = CURRENT[:end]
    values = ("2.50", "tokens/s", "150 tokens", "300 tokens")
    ends_whole = text.rstrip(", ").endswith(values) or text.endswith("0.200")
    assert record.truncated is not ends_whole


@pytest.mark.parametrize(
    "text",
    [
        "=== Last 3 SpecDecoding metrics ===",
        "SpecDecoding metrics:",
        "Engine 000: Avg prompt throughput: 1.0 tokens/s",
        "KV Transfer metrics: Num successful transfers=2",
        "user accepted the terms",
        "",
    ],
)
def test_other_text_is_no_record(text: str) -> None:
    assert parse_acceptance(text) is None


def test_forged_numbers_are_left_out() -> None:
    record = parsed(
        "SpecDecoding metrics: Mean acceptance length: 99.99, Accepted throughput: 1e309 "
        "tokens/s, Accepted: 99999999999999999999 tokens, Drafted: 10 tokens"
    )
    assert record.accepted_tokens_per_s is None
    assert record.accepted is None
    assert record.acceptance_rate is None


@given(st.text(max_size=400))
def test_any_text_can_follow_the_marker(text: str) -> None:
    record = parse_acceptance("SpecDecoding metrics: " + text)
    assert record is None or record.drafted is None or record.drafted >= 0


@given(
    length=st.decimals(0, 99_999, places=2),
    speeds=st.tuples(*[st.decimals(0, 10**8, places=2)] * 2),
    counts=st.tuples(*[st.integers(0, 10**14 - 1)] * 2),
    rates=st.lists(st.decimals(0, 9, places=3), min_size=1, max_size=70),
    rate=st.decimals(0, 999, places=1),
)
def test_the_usual_line_is_read_as_any_other_is(
    length: object,
    speeds: tuple[object, object],
    counts: tuple[int, int],
    rates: list[object],
    rate: object,
) -> None:
    """A second space takes a line out of the short way and changes nothing that it says."""
    usual = (
        f"SpecDecoding metrics: Mean acceptance length: {length}, Accepted throughput: "
        f"{speeds[0]} tokens/s, Drafted throughput: {speeds[1]} tokens/s, "
        f"Accepted: {counts[0]} tokens, Drafted: {counts[1]} tokens, Per-position acceptance "
        f"rate: {', '.join(map(str, rates))}, Avg Draft acceptance rate: {rate}%"
    )
    assert parsed(usual) == parsed(usual.replace("Drafted: ", "Drafted:  "))


@pytest.mark.parametrize(
    "process", ["(APIServer pid=9) ", "(EngineCore_DP1 pid=12) ", ""]
)
def test_the_short_way_says_what_the_long_way_says(process: str) -> None:
    text = f"{process}INFO 11-29 15:31:40 [metrics.py:120] {CURRENT}"
    line = parse_line(text, 7)
    record = usual_record(text.encode(), 7, {(None, line.process, line.pid): 3})
    assert record is not None
    assert record == acceptance_of(line, 3)


@pytest.mark.parametrize(
    "changed",
    [
        ("Drafted: 300", "Drafted: 301"),
        ("Accepted: 150 tokens, Drafted: 300", "Accepted: 0 tokens, Drafted: 0"),
        ("length: 2.50", "length: 2.80"),
        ("0.200,", "nan,"),
        ("50.0%", "50.0"),
        ("APIServer", "RustFrontend"),
        ("(API", "svc-1 | (API"),
    ],
    ids=str,
)
def test_the_short_way_leaves_what_is_unusual_to_the_long_way(
    changed: tuple[str, str],
) -> None:
    text = f"(APIServer pid=9) INFO 11-29 15:31:40 [metrics.py:120] {CURRENT}"
    assert usual_record(text.replace(*changed).encode(), 1, {}) is None

"""Real recordings: what was printed is what was counted."""

from pathlib import Path

import pytest

from deployments.telemetry.acceptance_history import counts_of_record, total
from deployments.telemetry.logs.reader import read_log
from deployments.telemetry.prometheus import read_metrics

FIXTURES = Path(__file__).parent / "fixtures"


def test_windows_of_mtp_add_up_to_its_counters() -> None:
    reading = read_log((FIXTURES / "vllm-0.32.0-mtp.log").read_bytes())
    engine = read_metrics((FIXTURES / "vllm-0.32.0-mtp.prom").read_text()).engines["0"]
    printed = total(counts for r in reading.records if (counts := counts_of_record(r)))
    assert len(reading.records) == 9
    assert (printed.accepted, printed.drafted, printed.num_drafts) == (
        engine.accepted,
        engine.drafted,
        engine.num_drafts,
    )
    assert {record.engine for record in reading.records} == {0}


def test_drafts_of_ngram_are_known_although_some_are_short() -> None:
    reading = read_log((FIXTURES / "vllm-0.32.0-ngram.log").read_bytes())
    engine = read_metrics((FIXTURES / "vllm-0.32.0-ngram.prom").read_text()).engines[
        "0"
    ]
    printed = total(counts for r in reading.records if (counts := counts_of_record(r)))
    assert (printed.accepted, printed.drafted) == (engine.accepted, engine.drafted)
    assert printed.num_drafts == pytest.approx(engine.num_drafts, rel=0.001)
    assert printed.per_position == pytest.approx(
        engine.accepted_per_position, rel=0.001
    )
    assert engine.num_speculative_tokens == 3


@pytest.mark.parametrize(
    ("method", "count", "drafter"),
    [("mtp", 1, None), ("ngram", 3, None), ("eagle3", 3, "/models/eagle3")],
)
def test_startup_line_is_read(method: str, count: int, drafter: str | None) -> None:
    facts = read_log((FIXTURES / f"vllm-0.32.0-{method}.log").read_bytes()).startup
    assert facts.speculation is True
    assert (facts.method, facts.num_speculative_tokens) == (method, count)
    assert facts.drafter == drafter
    assert facts.engine_version == "0.32.0"

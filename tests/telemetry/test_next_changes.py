"""What else to change: off beyond the break-even, another method, a shorter context."""

from dataclasses import replace

import pytest

from deployments.planning.text import text
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.benchmarks.verdict import Comparison, Verdict
from deployments.telemetry.next_changes import (
    Alternative,
    Hour,
    Kind,
    Planned,
    Proposal,
    by_measurement,
    count_change,
    next_changes,
)

MTP = Alternative(
    method="mtp", num_speculative_tokens=2, drafter=None, because=text("It has a head.")
)
PLANNED = Planned(
    method="eagle3",
    num_speculative_tokens=3,
    break_even=32,
    break_even_high=64,
    tokens_per_step=2.8,
    max_model_len=65_536,
    alternatives=(MTP,),
)


def counts(*rates: float, drafts: int = 1000) -> Counts:
    positions = tuple(round(rate * drafts) for rate in rates)
    return Counts(
        accepted=sum(positions),
        drafted=drafts * len(rates),
        num_drafts=drafts,
        per_position=positions,
    )


def hour(concurrency: float = 8.0, *rates: float, prompt: int = 2000) -> Hour:
    return Hour(
        concurrency=concurrency,
        requests=100,
        prompted=100 * prompt,
        generated=50_000,
        counts=counts(*(rates or (0.8, 0.65, 0.5))),
    )


def kinds(found: tuple[Proposal, ...]) -> list[Kind]:
    return [one.kind for one in found]


def test_good_acceptance_below_the_break_even_is_left_alone() -> None:
    assert next_changes(PLANNED, [hour()] * 12) == ()


def test_load_beyond_the_break_even_turns_it_off() -> None:
    (found,) = next_changes(PLANNED, [*[hour(40.0)] * 5, *[hour(8.0)] * 4])
    assert (found.kind, found.method) == (Kind.OFF, "off")
    assert "In 5 of 9 hours" in found.because[0]
    assert "than the 32" in found.because[0]
    assert "56%" in found.because[0]
    assert "wide range" in found.because[1]
    (sure,) = next_changes(PLANNED, [hour(80.0, 0.7, 0.5, 0.4)] * 4)
    assert "beyond the range of the estimate, too" in sure.because[1]
    assert "expected 2.80 tokens per step; 2.60 were measured" in sure.because[2]


@pytest.mark.parametrize(
    ("planned", "hours"),
    [
        (replace(PLANNED, break_even=None), 12),
        (PLANNED, 2),
        (replace(PLANNED, num_speculative_tokens=None), 12),
    ],
    ids=["unknown", "too few hours", "off already"],
)
def test_nothing_is_said_of_load_without_grounds(planned: Planned, hours: int) -> None:
    assert next_changes(planned, [hour(100.0)] * hours) == ()


def test_low_acceptance_switches_to_the_best_open_method() -> None:
    (found,) = next_changes(PLANNED, [hour(8.0, 0.5, 0.3, 0.15)] * 3)
    assert (found.kind, found.method, found.num_speculative_tokens) == (
        Kind.METHOD,
        "mtp",
        2,
    )
    assert "31.7%" in found.because[0]
    assert found.because[1] == "It has a head."
    alone = replace(PLANNED, alternatives=())
    assert next_changes(alone, [hour(8.0, 0.5, 0.3, 0.15)] * 3) == ()


def test_drafts_that_bring_nothing_are_turned_off_where_no_method_is_open() -> None:
    alone = replace(PLANNED, alternatives=())
    (found,) = next_changes(alone, [hour(8.0, 0.05, 0.02, 0.01)] * 3)
    assert (found.kind, found.method) == (Kind.OFF, "off")
    assert "the best count, 1, makes 0.97 tokens" in found.because[0]
    both = next_changes(alone, [hour(99.0, 0.05, 0.02, 0.01)] * 3)
    assert kinds(both) == [Kind.OFF], "one reason to turn it off is enough"


def test_few_drafts_say_nothing_of_a_method() -> None:
    few = replace(hour(), counts=counts(0.1, 0.1, 0.1, drafts=30))
    assert next_changes(PLANNED, [few] * 3) == ()


def test_long_requests_that_are_drafted_worse_shorten_the_context() -> None:
    short, long = hour(8.0, prompt=2000), hour(8.0, 0.6, 0.45, 0.3, prompt=20_000)
    found = next_changes(PLANNED, [short, long] * 4)
    assert kinds(found) == [Kind.CONTEXT, Kind.METHOD]
    assert found[0].max_model_len == 5120, "twice 2,500 tokens in steps of 1,024"
    assert "20500 tokens each, 1.35" in found[0].because[0]
    assert "instead of 65536" in found[0].said
    assert found[1].method == "mtp"
    own = replace(PLANNED, drafter_max_model_len=4096, alternatives=())
    assert [one.max_model_len for one in next_changes(own, [short, long] * 4)] == [4096]
    unknown = replace(PLANNED, max_model_len=None, alternatives=())
    assert next_changes(unknown, [short, long] * 4) == ()


def test_requests_of_one_length_or_of_one_acceptance_do_not() -> None:
    worse = hour(8.0, 0.6, 0.45, 0.3, prompt=2000)
    assert next_changes(PLANNED, [hour(), worse] * 4) == ()
    longer = hour(8.0, prompt=20_000)
    assert next_changes(PLANNED, [hour(), longer] * 4) == ()


OFF = Proposal(kind=Kind.OFF, said=text("Off."), because=(), method="off")
CONTEXT = Proposal(kind=Kind.CONTEXT, said=text("Shorter."), because=())


@pytest.mark.parametrize(
    ("verdict", "keep_up_to", "kinds"),
    [
        (None, None, [Kind.OFF, Kind.CONTEXT]),
        (Verdict.INCONCLUSIVE, None, [Kind.OFF, Kind.CONTEXT]),
        (Verdict.KEEP, None, [Kind.CONTEXT]),
        (Verdict.KEEP, 8, [Kind.LOAD, Kind.OFF, Kind.CONTEXT]),
        (Verdict.KEEP, 32, [Kind.OFF, Kind.CONTEXT]),
        (Verdict.TURN_OFF, None, [Kind.OFF, Kind.CONTEXT]),
    ],
)
def test_a_benchmark_outranks_an_estimate(
    verdict: Verdict | None, keep_up_to: int | None, kinds: list[Kind]
) -> None:
    why = (text("0.80 times the output."),)
    measured = (
        Comparison(
            comparable=True,
            throughput_ratio=0.8,
            request_throughput_ratio=None,
            tpot_ratio=None,
            verdict=verdict,
            why=why,
            keep_up_to=keep_up_to,
        )
        if verdict
        else None
    )
    planned = replace(PLANNED, max_num_seqs=64)
    hours = [hour(4.0), hour(20.0)]
    found = by_measurement((OFF, CONTEXT), measured, planned, hours)
    assert [one.kind for one in found] == kinds
    assert (found[0].because == why) is (verdict is Verdict.TURN_OFF)
    if found[0].kind is Kind.LOAD:
        assert found[0].max_num_seqs == keep_up_to
        assert "In 1 of 2 hours" in str(found[0].because[1])
    bounded = replace(planned, max_num_seqs=8)
    assert Kind.LOAD not in {
        one.kind for one in by_measurement((OFF,), measured, bounded, hours)
    }


def test_another_count_of_the_same_method_is_proposed_with_the_arithmetic() -> None:
    (found,) = count_change(PLANNED, counts(0.8, 0.65, 0.5), "head")
    assert (found.kind, found.method, found.num_speculative_tokens, found.drafter) == (
        Kind.COUNT,
        "eagle3",
        4,
        "head",
    )
    assert found.key == "count:eagle3:4::"
    assert len(found.because) > 1
    assert count_change(PLANNED, counts(0.8, 0.65, 0.5, drafts=50), None) == ()

"""The timeline of a release, from its journal."""

from datetime import UTC, datetime, timedelta

import pytest

from deployments.models import EventKind, Release, ReleaseEvent, ReleaseState
from deployments.selectors.phases import ORDER, STEPS_OF, phases
from deployments.services.rollout.journal import Step

START = datetime(2026, 11, 27, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """So many seconds after the release was made."""
    return START + timedelta(seconds=seconds)


def release(state: ReleaseState, since: float = 0, **columns: object) -> Release:
    """A release that was made at the start, not stored."""
    row = Release(state=state, **columns)
    row.created_at, row.state_since = START, at(since)
    return row


def event(
    step: str, seconds: float, message: str = "", **detail: object
) -> ReleaseEvent:
    """One line of the journal, not stored."""
    row = ReleaseEvent(step=step, kind=EventKind.DONE, message=message, detail=detail)
    row.created_at = at(seconds)
    return row


def test_every_step_of_a_deployment_has_a_phase() -> None:
    told = {step for steps in STEPS_OF.values() for step in steps}
    apart = {Step.QUEUE, Step.STOP, Step.REMOVE, Step.UNDO, Step.RESTORE_OLD}
    assert told == {step.value for step in Step} - {step.value for step in apart}


def test_elapsed_times_run_from_one_phase_to_the_next() -> None:
    events = [event("VALIDATE", 4), event("BOOK", 9), event("PULL", 15)]
    row = release(ReleaseState.PULLING, 15, deadline_at=at(1215))
    found = {phase.key: phase for phase in phases(row, events, at(252))}
    assert (found["queued"].state, found["queued"].elapsed) == ("done", 4)
    assert (found["preflight"].state, found["preflight"].elapsed) == ("done", 11)
    pulling = found["pulling"]
    assert (pulling.state, pulling.elapsed, pulling.deadline) == ("current", 237, 1200)
    assert (found["starting"].state, found["starting"].elapsed) == ("later", None)
    assert found["live"].state == "later"


def test_queued_release_without_events_is_current() -> None:
    found = phases(release(ReleaseState.QUEUED), [], at(7))
    assert [phase.state for phase in found] == ["current", *["later"] * 6]
    assert found[0].elapsed == 7


def test_phase_that_was_just_entered_needs_no_event() -> None:
    row = release(ReleaseState.STARTING, 30)
    found = {phase.key: phase for phase in phases(row, [event("PULL", 5)], at(40))}
    assert (found["starting"].state, found["starting"].elapsed) == ("current", 10)
    assert found["creating"].state == "done"


@pytest.mark.parametrize(
    ("state", "mark"),
    [
        (ReleaseState.FAILED, "failed"),
        (ReleaseState.BLOCKED, "failed"),
        (ReleaseState.CANCELLED, "ended"),
        (ReleaseState.STOPPED, "ended"),
    ],
)
def test_early_end_is_marked_where_it_happened(state: ReleaseState, mark: str) -> None:
    """What somebody wanted is no failure."""
    row = release(state, 60, ended_at=at(60))
    events = [event("VALIDATE", 1), event("START", 20, "Exited with code 1.")]
    found = {phase.key: phase for phase in phases(row, events, at(999))}
    assert (found["starting"].state, found["starting"].elapsed) == (mark, 40)
    assert found["starting"].notes == ("Exited with code 1.",)
    assert found["verifying"].state == "later"


@pytest.mark.parametrize(
    "state", [ReleaseState.LIVE, ReleaseState.STOPPING, ReleaseState.STOPPED]
)
def test_release_that_was_live_is_done(state: ReleaseState) -> None:
    row = release(state, 90, live_at=at(80))
    events = [event("SMOKE", 70), event("STOP", 500)]
    found = phases(row, events, at(999))
    assert {phase.state for phase in found} == {"done"}
    assert found[len(ORDER) - 1].elapsed == 10


def test_bytes_of_a_pull_are_shown_while_it_runs() -> None:
    row = release(ReleaseState.PULLING, 5)
    events = [event("PULL", 5, current_bytes=250, total_bytes=1000)]
    pulling = next(one for one in phases(row, events, at(9)) if one.key == "pulling")
    assert pulling.pull is not None
    assert (pulling.pull.done, pulling.pull.total, pulling.pull.share) == (
        250,
        1000,
        0.25,
    )
    unknown = [event("PULL", 5, current_bytes=250, total_bytes=0)]
    pulling = next(one for one in phases(row, unknown, at(9)) if one.key == "pulling")
    assert pulling.pull is not None
    assert pulling.pull.share is None
    assert (pulling.pull.rate, pulling.pull.remaining_s) == (None, None)
    quick = [event("PULL", 5, current_bytes=250, total_bytes=1000, bytes_per_s=50)]
    pulling = next(one for one in phases(row, quick, at(9)) if one.key == "pulling")
    assert pulling.pull is not None
    assert (pulling.pull.rate, pulling.pull.remaining_s) == (50, 15)


def test_only_the_last_notes_of_a_phase_are_shown() -> None:
    row = release(ReleaseState.PULLING, 5)
    events = [event("PULL", 5, f"note {number}") for number in range(9)]
    pulling = next(one for one in phases(row, events, at(9)) if one.key == "pulling")
    assert pulling.notes == ("note 6", "note 7", "note 8")


def test_what_is_left_of_a_start_follows_from_earlier_ones() -> None:
    row = release(ReleaseState.STARTING, 30)
    lefts = []
    for usual in (25.0, 5.0, None):
        found = {phase.key: phase for phase in phases(row, [], at(40), usual)}
        lefts.append((found["starting"].usual, found["starting"].left))
        assert found["creating"].usual is None
    assert lefts == [(25.0, 15.0), (5.0, None), (None, None)]

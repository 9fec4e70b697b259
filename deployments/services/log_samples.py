"""Acceptance lines of a log increment as samples, each with the engine that it speaks of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from deployments.docker_api.logs import LogIncrement, LogLine, lines_holding
from deployments.telemetry.acceptance_history import Counts, counts_of_record
from deployments.telemetry.logs.acceptance import (
    AcceptanceRecord,
    acceptance_of,
    usual_record,
)
from deployments.telemetry.logs.lines import LogLine as Message
from deployments.telemetry.logs.lines import parse_line

_ENGINE = re.compile(r"Engine (?P<index>\d{1,6}): ")
_ENGINE_WORD = "Engine "
_METRICS = (" metrics:", " / drafted ")
MARKS = (*_METRICS, _ENGINE_WORD)
"""What the lines hold that are looked at; nothing but ASCII."""


@dataclass(frozen=True, slots=True)
class FoundSample:
    """One acceptance line: where it stands, what it says, which engine wrote it."""

    line: LogLine
    record: AcceptanceRecord
    counts: Counts
    engine_index: int | None


def samples_of(increment: LogIncrement) -> Iterator[FoundSample]:
    """The acceptance lines among the new lines of an increment.

    vLLM prints "Engine 001: ..." just before the acceptance line of that engine; that line may
    have come with the increment before, so those are looked at as well.
    """
    engines: dict[tuple[str | None, int | None], int] = {}
    for line in increment.before:
        if _ENGINE_WORD in line.text:
            _note_engine(engines, parse_line(line.text))
    for line in lines_holding(increment.lines, MARKS):
        if any(mark in line.text for mark in _METRICS):
            record = usual_record(line.text.encode(), 1, {}) or acceptance_of(
                parse_line(line.text)
            )
            if record is None:
                continue
            found = _sample(line, record, engines.get((record.process, record.pid)))
            if found is not None:
                yield found
        else:
            _note_engine(engines, parse_line(line.text))


def _sample(
    line: LogLine, record: AcceptanceRecord, engine_index: int | None
) -> FoundSample | None:
    counts = counts_of_record(record)
    if counts is None or counts.accepted > counts.drafted:
        return None
    return FoundSample(line, record, counts, engine_index)


def _note_engine(
    engines: dict[tuple[str | None, int | None], int], message: Message
) -> None:
    found = _ENGINE.match(message.message)
    if found is not None:
        engines[message.process, message.pid] = int(found["index"])

"""Metric lines that a terminal or an author wrapped: which lines go on, and how they are joined."""

import re

from deployments.telemetry.logs.fields import read_fields
from deployments.telemetry.logs.lines import LogLine

_METRIC = re.compile(r"(?:SpecDecoding|Speculative) metrics:")
_MARKS = ("SpecDecoding metrics:", "Speculative metrics:")
_WRAPPED = re.compile(
    r"\s{0,64}(?:Mean acceptance length|Accepted|Drafted|Per-position|Avg Draft|Draft acceptance"
    r"|System efficiency|Number of|Current speculative depth|tokens|throughput|acceptance|length"
    r"|rate|position|\d{1,12}(?:\.\d{1,6})?(?:%|,| tokens|$))"
)
_FIGURE = re.compile(r"[\d.]")


def is_metric(line: LogLine) -> bool:
    """Whether a metric line begins here, even if a terminal cut it within the words that mark it."""
    message = line.message
    if "metrics:" in message:
        return _METRIC.search(message) is not None
    return (
        line.place is not None
        and line.place.startswith("metrics.py:")
        and bool(message)
        and any(mark.startswith(message) for mark in _MARKS)
    )


def joined_with(begun: str, more: str) -> str | None:
    """The message with the line that goes on; ``None`` where that line is another message.

    An author wraps between words, a terminal wherever its width ends: the way that makes more
    fields is right, and a figure is never cut by an author.
    """
    spaced, tight = f"{begun.rstrip()} {more.strip()}", begun + more
    goes_on = _WRAPPED.match(more) is not None
    within_figure = _FIGURE.match(begun[-1:]) and _FIGURE.match(more[:1])
    closer, wider = _score(tight), _score(spaced)
    if goes_on:
        return tight if within_figure or closer > wider else spaced
    return tight if closer > _score(begun) and closer >= wider else None


def _score(message: str) -> int:
    """How much of it is fields and values."""
    mark = _METRIC.search(message)
    if mark is None:
        return 0
    found = read_fields(message[mark.end() :])
    return 1 + len(found.names) + len(found.values) + len(found.positions or ())

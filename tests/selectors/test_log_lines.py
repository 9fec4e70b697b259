"""Lines of a tail as they are shown: times, levels, marks, values, filters, order."""

import time
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from deployments.selectors.log_lines import (
    LogFilter,
    LogSource,
    ShownLine,
    level_of,
    shown_lines,
)
from deployments.telemetry.logs.searching import log_pattern
from tests.log_rows import (
    BEGIN_NS,
    ERROR,
    INFO,
    METRICS,
    SECOND_NS,
    WARNING,
    day_of,
    stored_lines,
)

EVERYTHING = LogFilter()


def tail(*texts: str, title: str = "", begin_ns: int = BEGIN_NS) -> LogSource:
    """The lines of one tail."""
    lines: Any = stored_lines(texts, begin_ns=begin_ns)
    return LogSource(key="l1", title=title, lines=lines)


def shown(one: LogSource, keep: LogFilter = EVERYTHING) -> list[ShownLine]:
    """The lines of one tail that a filter keeps."""
    return list(shown_lines([one], keep, most=1000).lines)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (INFO, "INFO"),
        (ERROR, "ERROR"),
        (WARNING, "WARNING"),
        ("INFO:     127.0.0.1:44312 - GET /health 200 OK", "INFO"),
        ("Traceback (most recent call last):", "ERROR"),
        ("no ERROR here", ""),
        ("Loading safetensors checkpoint shards: 100%", ""),
    ],
)
def test_a_line_names_its_level(text: str, level: str) -> None:
    assert level_of(text) == level


def test_a_line_without_level_belongs_to_the_message_before_it() -> None:
    found = shown(tail(INFO, "Traceback (most recent call last):", "  File x", INFO))
    assert [line.level for line in found] == ["INFO", "ERROR", "ERROR", "INFO"]


def test_a_level_keeps_what_is_as_grave_or_graver() -> None:
    lines = tail("banner", INFO, WARNING, ERROR)
    kept = shown(lines, LogFilter(level="WARNING"))
    assert [line.text for line in kept] == [WARNING, ERROR]


def test_a_pattern_keeps_its_lines_and_marks_the_piece() -> None:
    keep = LogFilter(pattern=log_pattern(r"pid=\d"))
    found = shown(tail("nothing", INFO), keep)
    assert [(line.before, line.hit) for line in found] == [("(APIServer ", "pid=1")]
    assert found[0].text == INFO


def test_what_the_panel_says_is_never_left_out() -> None:
    note = (0, BEGIN_NS, "panel", "skipped", False)
    one = LogSource(key="l1", title="", lines=[note, *tail(INFO).lines])
    with translation.override("en"):
        found = shown(one, LogFilter(level="CRITICAL"))
    assert [(line.note, line.text) for line in found] == [
        (True, "Lines are missing here: more came than this view reads at once.")
    ]


def test_an_acceptance_line_has_its_values() -> None:
    (line,) = shown(tail(METRICS))
    assert line.record is not None
    assert line.record.accepted == 406
    assert line.record.mean_acceptance_length == 3.0
    assert line.record.per_position == (0.901, 0.650, 0.449)
    assert shown(tail(INFO))[0].record is None


def test_times_are_in_the_persons_zone_and_name_another_day() -> None:
    with timezone.override(ZoneInfo("Asia/Shanghai")):
        (line,) = shown(tail("old", begin_ns=BEGIN_NS + 123_456_789))
        today = timezone.now().timestamp()
        (now,) = shown(tail("new", begin_ns=int(today) * SECOND_NS))
    assert day_of(BEGIN_NS) == "11-29"
    assert line.clock.endswith("02:00:00.123")
    assert now.clock.count(":") == 2
    assert "-" not in now.clock


def test_several_logs_are_merged_by_time_and_bounded() -> None:
    first = tail("a0", "a1", title="A")
    second = tail("b0", title="B", begin_ns=BEGIN_NS + SECOND_NS // 2)
    found = shown_lines([first, second], EVERYTHING, most=2)
    assert [(line.source, line.text) for line in found.lines] == [
        ("B", "b0"),
        ("A", "a1"),
    ]
    assert found.held == 2


def test_a_search_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deployments.selectors.log_lines.SEARCH_BUDGET_S", -1.0)
    keep = LogFilter(pattern=log_pattern("server"))
    found = shown_lines([tail(INFO, INFO)], keep, most=1000)
    assert found.timed_out
    assert found.lines == ()


def test_a_thousand_lines_are_read_in_a_moment() -> None:
    lines = tail(*[INFO.format(number) for number in range(900)], *[METRICS] * 100)
    keep = LogFilter(pattern=log_pattern("server"))
    shown(lines, keep)
    begin = time.process_time()
    shown(lines, keep)
    assert time.process_time() - begin < 0.25

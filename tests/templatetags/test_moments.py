"""Times: relative to now, exact on hover, in the person's zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from deployments.templatetags.moments import (
    clock,
    moment,
    moment_words,
    relative,
    since,
)

NOW = datetime(2026, 11, 27, 8, 42, tzinfo=UTC)


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=9), "9 s ago"),
        (timedelta(minutes=48, seconds=59), "48 min ago"),
        (timedelta(hours=2, minutes=59), "2 h ago"),
        (timedelta(days=6, hours=22), "6 d ago"),
        (timedelta(days=-6, hours=-22), "in 6 d"),
        (timedelta(days=31), "Oct. 27, 2026"),
    ],
)
def test_the_largest_unit_says_how_long_ago(distance: timedelta, expected: str) -> None:
    """Beyond a month a date says more."""
    assert relative(NOW - distance, NOW).replace("\u00a0", " ") == expected


def test_the_exact_time_stands_in_the_title_in_the_persons_zone() -> None:
    """With the zone's name, since people of one team sit in several."""
    with timezone.override(ZoneInfo("Asia/Shanghai")):
        text = str(moment(NOW))
    assert 'title="2026-11-27 16:42:00 CST"' in text
    assert 'datetime="2026-11-27T08:42:00+00:00"' in text


def test_no_time_is_never() -> None:
    """A host that nobody contacted was not seen in 1970."""
    assert moment(None) == "never"
    assert since(None) == ""


def test_since_names_the_day_when_it_is_not_today() -> None:
    """An hour alone would mislead."""
    assert "since <time" in str(since(timezone.now()))
    assert ">2020-01-02 " in str(since(datetime(2020, 1, 2, 12, tzinfo=UTC)))


def test_journals_show_the_time_of_day() -> None:
    """To the second."""
    with timezone.override(ZoneInfo("UTC")):
        assert ">08:42:00</time>" in str(clock(NOW))


def test_the_page_gets_the_words_in_which_it_keeps_distances_true() -> None:
    words = str(moment_words())
    assert 'data-now="now"' in words
    assert 'data-ago="%(distance)s ago"' in words
    assert 'data-steps="86400:d 3600:h 60:min 1:s"' in words
    assert "data-relative" in str(moment(NOW))

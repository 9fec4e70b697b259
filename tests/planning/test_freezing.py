"""Freeze windows: wall clocks, what repeats, what wins, and when it opens again."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.planning.freezing import (
    Freeze,
    Repeat,
    Window,
    WindowKind,
    freeze_at,
)

DENY, ALLOW = WindowKind.DENY, WindowKind.ALLOW


def window(**values: Any) -> Window:
    """Friday 18:00 to Monday 06:00 in Berlin, every week."""
    given_values = {
        "name": "weekend",
        "kind": DENY,
        "time_zone": "Europe/Berlin",
        "begins": datetime(2026, 1, 2, 18),  # noqa: DTZ001 a wall clock
        "minutes": 60 * 60,
        "repeat": Repeat.WEEKLY,
    }
    return Window(**{**given_values, **values})


def wall(*parts: int) -> datetime:
    """A wall clock without a zone."""
    return datetime(*parts)  # type: ignore[arg-type] # noqa: DTZ001


def utc(*parts: int) -> datetime:
    """A moment."""
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def until(*windows: Window, now: datetime) -> datetime | None:
    """When it opens; the moment itself where nothing forbids."""
    found = freeze_at([windows], now)
    return found.until if found else now


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        (utc(2026, 1, 2, 16, 59, 59), None),
        (utc(2026, 1, 2, 17), utc(2026, 1, 5, 5)),
        (utc(2026, 1, 5, 4, 59, 59), utc(2026, 1, 5, 5)),
        (utc(2026, 1, 5, 5), None),
        # In summer Berlin is two hours ahead, and the wall clock decides.
        (utc(2026, 7, 3, 15, 59), None),
        (utc(2026, 7, 3, 16), utc(2026, 7, 6, 4)),
    ],
)
def test_a_weekend_begins_and_ends_by_the_wall_clock_of_its_zone(
    now: datetime, opens: datetime | None
) -> None:
    assert until(window(), now=now) == (opens or now)


@pytest.mark.parametrize(
    ("kind", "now", "frozen"),
    [
        # 25 October 2026: 02:30 comes twice in Berlin, at 00:30 and at 01:30 UTC.
        (DENY, utc(2026, 10, 25, 0, 29), False),
        (DENY, utc(2026, 10, 25, 0, 30), True),
        (DENY, utc(2026, 10, 25, 1, 44), True),
        (DENY, utc(2026, 10, 25, 1, 45), False),
        (ALLOW, utc(2026, 10, 25, 0, 35), True),
        (ALLOW, utc(2026, 10, 25, 1, 35), True),
    ],
)
def test_an_hour_that_comes_twice_is_read_the_stricter_way(
    kind: WindowKind, now: datetime, *, frozen: bool
) -> None:
    night = window(
        kind=kind, begins=wall(2026, 10, 25, 2, 30), minutes=15, repeat=Repeat.ONCE
    )
    assert (freeze_at([[night]], now) is not None) is frozen


def test_an_hour_that_never_comes_still_denies() -> None:
    # 29 March 2026: clocks in Berlin go from 02:00 to 03:00, at 01:00 UTC.
    night = window(begins=wall(2026, 3, 29, 2, 15), minutes=30, repeat=Repeat.ONCE)
    assert freeze_at([[night]], utc(2026, 3, 29, 1, 0)) is not None


def test_deny_wins_over_allow_and_the_next_opening_is_after_both() -> None:
    office = window(
        name="office",
        kind=ALLOW,
        begins=wall(2026, 1, 5, 9),
        minutes=8 * 60,
        weekdays=(0, 1, 2, 3, 4),
    )
    audit = window(
        name="audit", begins=wall(2026, 1, 6, 0), minutes=24 * 60, repeat=Repeat.ONCE
    )
    tuesday = utc(2026, 1, 6, 10)

    assert freeze_at([[office]], tuesday) is None
    assert freeze_at([[office, audit]], tuesday) == Freeze(
        window="audit", until=utc(2026, 1, 7, 8)
    )
    # A Saturday waits for Monday morning.
    assert until(office, now=utc(2026, 1, 10, 12)) == utc(2026, 1, 12, 8)


def test_every_set_has_to_allow_it() -> None:
    now = utc(2026, 1, 3)
    assert freeze_at([[], []], now) is None
    assert freeze_at([[window()], []], now) is not None
    assert freeze_at([[], [window()]], now) is not None


def test_windows_without_a_gap_have_no_known_end() -> None:
    always = window(repeat=Repeat.DAILY, minutes=24 * 60)
    assert freeze_at([[always]], utc(2030, 1, 1)) == Freeze(
        window="weekend", until=None
    )


def test_an_allowed_time_that_is_over_never_opens_again() -> None:
    once = window(kind=ALLOW, repeat=Repeat.ONCE)
    later = utc(2026, 2, 1)
    assert freeze_at([[once]], later) == Freeze(window="weekend", until=None)


@pytest.mark.parametrize(
    ("repeat", "begins", "inside", "outside"),
    [
        (Repeat.DAILY, wall(2020, 5, 1, 12), utc(2026, 1, 9, 11, 30), utc(2026, 1, 9)),
        (Repeat.MONTHLY, wall(2026, 1, 31), utc(2026, 3, 31), utc(2026, 2, 28, 12)),
        (Repeat.YEARLY, wall(2024, 2, 29), utc(2028, 2, 29), utc(2026, 3, 1)),
        (Repeat.YEARLY, wall(2025, 12, 20), utc(2030, 12, 20), utc(2030, 12, 22)),
    ],
)
def test_what_repeats_comes_back(
    repeat: Repeat, begins: datetime, inside: datetime, outside: datetime
) -> None:
    often = window(repeat=repeat, begins=begins, minutes=60, time_zone="UTC")
    shifted = inside.replace(minute=begins.minute, hour=begins.hour)
    assert freeze_at([[often]], shifted) is not None
    assert freeze_at([[often]], outside.replace(hour=23)) is None


def test_nothing_begins_after_the_last_day() -> None:
    ends = window(last_day=date(2026, 1, 9))
    assert freeze_at([[ends]], utc(2026, 1, 10)) is not None
    assert freeze_at([[ends]], utc(2026, 1, 17)) is None


@given(
    now=st.datetimes(wall(2026, 1, 1), wall(2027, 1, 1), timezones=st.just(UTC)),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Shanghai"]),
    minutes=st.integers(1, 60 * 24 * 6),
    kind=st.sampled_from(list(WindowKind)),
)
def test_what_is_said_to_open_is_open_then_and_not_before(
    now: datetime, zone: str, minutes: int, kind: WindowKind
) -> None:
    one = window(time_zone=zone, minutes=minutes, kind=kind)
    found = freeze_at([[one]], now)
    if found is None:
        return
    assert found.until is not None
    assert found.until > now
    assert freeze_at([[one]], found.until) is None
    assert freeze_at([[one]], now + (found.until - now) / 2) is not None

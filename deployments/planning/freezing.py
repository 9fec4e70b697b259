"""When nothing new may start: windows that deny, windows outside of which nothing may, and the way out.

Windows are wall-clock times of a zone and repeat by the rules of RFC 5545, as dateutil knows them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from dateutil import rrule

DAY = timedelta(days=1)
LONGEST_MINUTES = 60 * 24 * 31
ROUNDS = 100
"""Windows that follow one another without a gap, after which no end is looked for."""
LOOKED_AHEAD = timedelta(days=366 * 4 + 1)
"""How far the next opening is looked for: a leap day comes back within it."""


class WindowKind(StrEnum):
    """Whether a window forbids, or is one of the only times that are allowed."""

    DENY = "deny"
    ALLOW = "allow"


class Repeat(StrEnum):
    """How often a window comes back."""

    ONCE = "once"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"


FREQUENCIES = {
    Repeat.ONCE: rrule.DAILY,
    Repeat.DAILY: rrule.DAILY,
    Repeat.WEEKLY: rrule.WEEKLY,
    Repeat.MONTHLY: rrule.MONTHLY,
    Repeat.YEARLY: rrule.YEARLY,
}
STEPS = {Repeat.DAILY: 1, Repeat.WEEKLY: 7}
"""Days by which the first occurrence may be moved without changing the later ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A time that comes once or again and again.

    ``begins`` is the wall clock of ``time_zone``, without a zone of its own; it lasts ``minutes`` of
    the wall clock. ``weekdays`` (Monday is 0) are for weekly ones; empty is the weekday of
    ``begins``. No occurrence begins after ``last_day``.
    """

    name: str
    kind: WindowKind
    time_zone: str
    begins: datetime
    minutes: int
    repeat: Repeat = Repeat.ONCE
    weekdays: tuple[int, ...] = ()
    last_day: date | None = None

    def periods(self, after: datetime, before: datetime) -> Iterator["Period"]:
        """The occurrences that touch the time between two moments, earliest first."""
        lasts = timedelta(minutes=self.minutes)
        zone = ZoneInfo(self.time_zone)
        first = after.astimezone(zone).replace(tzinfo=None) - lasts - DAY
        last = before.astimezone(zone).replace(tzinfo=None) + DAY
        for begins in self._starts(first, last):
            start = self._instants(begins, zone)
            end = self._instants(begins + lasts, zone)
            # An hour that comes twice, or never, is taken as the stricter reading has it.
            if self.kind is WindowKind.DENY:
                period = Period(min(start), max(end))
            else:
                period = Period(max(start), min(end))
            if period.start < before and period.end > after:
                yield period

    def _starts(self, first: datetime, last: datetime) -> Sequence[datetime]:
        begins = self.begins
        step = STEPS.get(self.repeat)
        if step is not None and first > begins:
            begins += timedelta(days=(first - begins).days // step * step)
        until = datetime.combine(self.last_day, time.max) if self.last_day else None
        if self.repeat is Repeat.ONCE:
            return [begins] if first <= begins <= last else []
        weekdays = self.weekdays if self.repeat is Repeat.WEEKLY else ()
        rule = rrule.rrule(
            FREQUENCIES[self.repeat],
            dtstart=begins,
            until=until,
            byweekday=weekdays or None,
        )
        found: list[datetime] = rule.between(first, last, inc=True)
        return found

    @staticmethod
    def _instants(wall: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
        early, late = (
            wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)
        )
        return early, late


@dataclass(frozen=True, slots=True)
class Period:
    """One occurrence; the end is no part of it."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """That nothing new may start: because of which window, and until when; ``None`` is no end known."""

    window: str
    until: datetime | None


def freeze_at(sets: Sequence[Sequence[Window]], now: datetime) -> Freeze | None:
    """What forbids to start something at this moment; ``None`` is that nothing does.

    Each set of windows has to allow it. In a set a window that denies wins; where there are
    windows that allow, one of them has to be open.
    """
    first = _closed(sets, now)
    if first is None:
        return None
    closed: Freeze | None = first
    moment = now
    for _round in range(ROUNDS):
        if closed is None:
            return Freeze(window=first.window, until=moment)
        if closed.until is None:
            break
        moment = closed.until
        closed = _closed(sets, moment)
    return Freeze(window=first.window, until=None)


def _closed(sets: Sequence[Sequence[Window]], now: datetime) -> Freeze | None:
    found = [one for windows in sets for one in _closed_by(windows, now)]
    if any(one.until is None for one in found):
        return next(one for one in found if one.until is None)
    return max(found, key=lambda one: one.until or now, default=None)


def _closed_by(windows: Sequence[Window], now: datetime) -> Iterator[Freeze]:
    denying = [one for one in windows if one.kind is WindowKind.DENY]
    for window in denying:
        for denied in window.periods(now, now + timedelta(microseconds=1)):
            yield Freeze(window=window.name, until=denied.end)
    allowing = [one for one in windows if one.kind is WindowKind.ALLOW]
    opens = [
        (period.start, window.name)
        for window in allowing
        if (period := _next_period(window, now)) is not None
    ]
    if opens and min(opens)[0] > now:
        begins, name = min(opens)
        yield Freeze(window=name, until=begins)
    elif allowing and not opens:
        yield Freeze(window=allowing[0].name, until=None)


def _next_period(window: Window, now: datetime) -> Period | None:
    ahead = window.periods(now, now + LOOKED_AHEAD)
    return next((one for one in ahead if one.end > one.start), None)

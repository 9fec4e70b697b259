"""Times as people read them: relative, with the exact time in the person's zone as title."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from deployments.templatetags.figures import SPACE

register = template.Library()

DAYS_AS_DISTANCE = 30
STEPS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Words:
    """What distances in time are said with in one language."""

    now: str
    ago: str
    ahead: str
    steps: tuple[tuple[int, str], ...]


@lru_cache(maxsize=16)
def _words(language: str | None) -> Words:
    del language
    return Words(
        now=gettext("now"),
        ago=gettext("%(distance)s ago"),
        ahead=gettext("in %(distance)s"),
        steps=tuple((length, gettext(unit)) for length, unit in STEPS),
    )


@dataclass(frozen=True, slots=True)
class Now:
    """The time at which a page is written, in the language and the zone of its reader."""

    time: datetime
    zone: tzinfo
    language: str | None
    words: Words

    def relative(self, value: datetime) -> str:
        """The distance in its largest unit; a date beyond thirty days."""
        seconds = (self.time - value).total_seconds()
        distance = round(abs(seconds))
        if distance >= DAYS_AS_DISTANCE * 86400:
            return _date(value, self.zone, self.language)
        for length, unit in self.words.steps:
            if distance >= length:
                said = self.words.ago if seconds >= 0 else self.words.ahead
                return said % {"distance": f"{distance // length}{SPACE}{unit}"}
        return self.words.now

    def moment(self, value: datetime) -> SafeString:
        """The distance with the exact time as title."""
        return _moment(value, self.zone, self.relative(value))


def now_here(time: datetime | None = None) -> Now:
    """Now, or another time, for whoever the page is written for."""
    language = get_language()
    zone = timezone.get_current_timezone()
    return Now(time or timezone.now(), zone, language, _words(language))


@lru_cache(maxsize=8192)
def _date(value: datetime, zone: tzinfo, language: str | None) -> str:
    del language
    return date_format(timezone.localtime(value, zone), "DATE_FORMAT")


def relative(value: datetime, now: datetime) -> str:
    """The distance in its largest unit; a date beyond thirty days."""
    return now_here(now).relative(value)


def exact(value: datetime) -> str:
    """Date, time and zone: 2026-11-27 14:31:05 CST."""
    return _exact(value, timezone.get_current_timezone())


def _exact(value: datetime, zone: tzinfo) -> str:
    return timezone.localtime(value, zone).strftime("%Y-%m-%d %H:%M:%S %Z")


def _element(value: datetime, text: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(),
        exact(value),
        text,
    )


@lru_cache(maxsize=8192)
def _moment(value: datetime, zone: tzinfo, text: str) -> SafeString:
    """The whole element; lists show the same times again and again."""
    return format_html(
        '<time datetime="{}" title="{}" data-relative>{}</time>',
        value.isoformat(),
        _exact(value, zone),
        text,
    )


@register.simple_tag
def moment(value: datetime | None) -> SafeString | str:
    """``2 h ago`` with the exact time as title; "never" where there is no time.

    ``panel.js`` keeps the distance true while the page is open, in the words of ``moment_words``.
    """
    return gettext("never") if value is None else now_here().moment(value)


@register.simple_tag
def moment_words() -> SafeString:
    """The words from which a page composes distances in time by itself."""
    steps = " ".join(f"{length}:{gettext(unit)}" for length, unit in STEPS)
    return format_html(
        '<div id="moments" hidden data-now="{}" data-ago="{}" data-in="{}" '
        'data-steps="{}" data-space="{}" data-days="{}"></div>',
        gettext("now"),
        gettext("%(distance)s ago"),
        gettext("in %(distance)s"),
        steps,
        SPACE,
        DAYS_AS_DISTANCE,
    )


@register.simple_tag
def clock(value: datetime) -> SafeString:
    """The time of day in the person's zone, to the second, for journals."""
    return _element(value, timezone.localtime(value).strftime("%H:%M:%S"))


@register.simple_tag
def since(value: datetime | None) -> SafeString | str:
    """``since 14:02, 2 h``; nothing where there is no time."""
    if value is None:
        return ""
    local = timezone.localtime(value)
    same_day = local.date() == timezone.localtime().date()
    shape = "%H:%M" if same_day else "%Y-%m-%d %H:%M"
    return format_html(
        gettext("since {time}, {distance}"),
        time=_element(value, local.strftime(shape)),
        distance=relative(value, timezone.now()),
    )

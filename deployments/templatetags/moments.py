"""Times as people read them: relative, with the exact time in the person's zone as title."""

from datetime import datetime, tzinfo
from functools import lru_cache

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from deployments.templatetags.figures import SPACE

register = template.Library()

DAYS_AS_DISTANCE = 30
STEPS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def relative(value: datetime, now: datetime) -> str:
    """The distance in its largest unit; a date beyond thirty days."""
    seconds = (now - value).total_seconds()
    distance = round(abs(seconds))
    if distance >= DAYS_AS_DISTANCE * 86400:
        return date_format(timezone.localtime(value), "DATE_FORMAT")
    if distance == 0:
        return gettext("now")
    length, unit = next(step for step in STEPS if distance >= step[0])
    amount = f"{distance // length}{SPACE}{gettext(unit)}"
    text = gettext("%(distance)s ago") if seconds >= 0 else gettext("in %(distance)s")
    return text % {"distance": amount}


def exact(value: datetime) -> str:
    """Date, time and zone: 2026-11-27 14:31:05 CST."""
    return _exact(value, timezone.get_current_timezone())


def _exact(value: datetime, zone: tzinfo) -> str:
    return timezone.localtime(value, zone).strftime("%Y-%m-%d %H:%M:%S %Z")


def _element(value: datetime, text: str) -> SafeString:
    opening = _opening(value, timezone.get_current_timezone())
    return format_html("{}{}</time>", opening, text)


@lru_cache(maxsize=8192)
def _opening(
    value: datetime,
    zone: tzinfo,
    passing: bool = False,  # noqa: FBT001, FBT002
) -> SafeString:
    """The start of the element; lists show the same times again and again."""
    return format_html(
        '<time datetime="{}" title="{}"{}>',
        value.isoformat(),
        _exact(value, zone),
        " data-relative" if passing else "",
    )


@register.simple_tag
def moment(value: datetime | None) -> SafeString | str:
    """``2 h ago`` with the exact time as title; "never" where there is no time.

    ``panel.js`` keeps the distance true while the page is open, in the words of ``moment_words``.
    """
    if value is None:
        return gettext("never")
    opening = _opening(value, timezone.get_current_timezone(), passing=True)
    return format_html("{}{}</time>", opening, relative(value, timezone.now()))


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

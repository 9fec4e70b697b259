"""Latencies as people read them: milliseconds below ten seconds, else seconds."""

from django import template
from django.utils.translation import gettext

from deployments.templatetags.figures import figure, no_data

register = template.Library()

SECONDS_FROM = 10.0
TENTHS_BELOW = 100.0


@register.filter
def latency(seconds: float | None) -> str:
    """12.3 ms, 450 ms, 12.50 s; unknown is no data."""
    if seconds is None:
        return no_data()
    if seconds >= SECONDS_FROM:
        return gettext("%(number)s s") % {"number": figure(seconds)}
    milliseconds = seconds * 1000
    decimals = 1 if milliseconds < TENTHS_BELOW else 0
    return gettext("%(number)s ms") % {"number": figure(milliseconds, decimals)}

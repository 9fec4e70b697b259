"""How a figure moved, as a word with its sign: colour alone says nothing."""

from django import template
from django.utils.translation import gettext

from deployments.selectors.standings import LEVEL_WITHIN
from deployments.templatetags.figures import percent

register = template.Library()


@register.filter
def trend(change: float | None) -> str:
    """A change as a fraction: ``up +5 %``, ``level``, or a fall; nothing to compare with is said."""
    if change is None:
        return gettext("no baseline")
    if abs(change) < LEVEL_WITHIN:
        return gettext("level")
    amount = percent(abs(change))
    if change > 0:
        return gettext("up +%(amount)s") % {"amount": amount}
    return gettext("down \u2212%(amount)s") % {"amount": amount}


@register.filter
def trend_tone(change: float | None) -> str:
    """The class of a change: only a fall asks for attention."""
    if change is None:
        return "quiet"
    return "attention" if change <= -LEVEL_WITHIN else ""

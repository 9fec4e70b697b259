"""Starts without approval that nobody has reviewed yet."""

from collections.abc import Sequence

from django import template
from django.template import Context

from deployments.models import BreakGlass
from deployments.selectors.break_glass import open_reviews

register = template.Library()
MOST_SHOWN = 10


@register.simple_tag(takes_context=True)
def reviews_waiting(context: Context) -> Sequence[BreakGlass]:
    """The oldest ten of the person's teams."""
    return open_reviews(context["request"].user, MOST_SHOWN)

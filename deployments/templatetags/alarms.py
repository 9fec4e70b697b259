"""What an alarm says, in the person's language and with numbers as they are written there."""

from django import template

from deployments.planning.text import Text
from deployments.selectors.advice_words import spoken

register = template.Library()


@register.filter
def explained(said: Text) -> str:
    """The sentence of an alarm."""
    return spoken(said)

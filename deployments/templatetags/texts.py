"""``{{ finding.message|say }}``: texts, lists and words in the language of the page."""

from django import template

from deployments.selectors.phases import step_name
from deployments.selectors.texts import listed, role_name, say

register = template.Library()
register.filter("listed", listed)
register.filter("role_name", role_name)
register.filter("say", say)
register.filter("step_name", step_name)


@register.simple_tag
def comma() -> str:
    """What the language puts between the words of a list."""
    return listed(("", ""))

"""``{{ finding.message|say }}``: texts, lists and words in the language of the page."""

from django import template
from django.utils.translation import pgettext

from deployments.selectors.phases import step_name
from deployments.selectors.texts import listed, role_name, say
from deployments.telemetry.logs.visible import visible_text

ENDS = tuple(".!?:…。！？：")  # noqa: RUF001 - those of Chinese

register = template.Library()
register.filter("listed", listed)
register.filter("role_name", role_name)
register.filter("say", say)
register.filter("step_name", step_name)


@register.filter
def visible(words: str) -> str:
    """What people wrote, with signs that turn or hide text shown as such, line by line."""
    return "\n".join(visible_text(line) for line in words.splitlines())


@register.filter
def sentence(words: object) -> str:
    """A text as a sentence of its own: with a full stop where it has none."""
    said = say(words)
    if not said or said.endswith(ENDS):
        return said
    return said + pgettext("end of a sentence", ".")


@register.simple_tag
def comma() -> str:
    """What the language puts between the words of a list."""
    return listed(("", ""))

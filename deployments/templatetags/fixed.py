"""Parts of pages that look the same again and again: written once, then kept."""

import secrets
from collections.abc import Hashable, Mapping
from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()

PASSING: Mapping[str, str] = {
    name: f"{name}-{secrets.token_hex(16)}" for name in ("csrf_token", "here", "key")
}
"""What differs with every request, each with the word that keeps its place; nobody can know it."""
MOST_KEPT = 1024
"""Some five kilobytes each."""
_Given = tuple[tuple[str, type, Hashable], ...]


@register.simple_tag
def fixed(name: str, **given: Hashable) -> SafeString:
    """A template that shows what it is given and nothing else: written once for the same things.

    It has no other context, so it cannot show what is not part of the key it is kept under. What is
    given is compared, hence hashable and unchangeable, and holds no time: distances would not pass.
    What is ``PASSING`` may stand in values of attributes and is put in each time.
    """
    passing = {slot: given.pop(slot) for slot in PASSING if slot in given}
    things = tuple((key, type(value), value) for key, value in given.items())
    if not passing:
        return _written(name, get_language(), things)
    return format_html(_shape(name, get_language(), things, tuple(passing)), **passing)


@lru_cache(maxsize=MOST_KEPT)
def _written(name: str, language: str | None, given: _Given) -> SafeString:
    del language
    return render_to_string(name, {key: value for key, _type, value in given})


@lru_cache(maxsize=MOST_KEPT)
def _shape(
    name: str, language: str | None, given: _Given, passing: tuple[str, ...]
) -> str:
    """The template as a format that what passes is put into."""
    del language
    context = {key: value for key, _type, value in given}
    context |= {slot: PASSING[slot] for slot in passing}
    shape = str(render_to_string(name, context))
    shape = shape.replace("{", "{{").replace("}", "}}")
    for slot in passing:
        shape = shape.replace(PASSING[slot], f"{{{slot}}}")
    return shape

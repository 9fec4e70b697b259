"""What stands in the text of a chapter: its sections and its corrections, for lists of links."""

import re
from dataclasses import dataclass
from functools import cache

from django.template.loader import render_to_string
from django.utils.html import strip_tags

from deployments.selectors.guide import Chapter, chapters

_SECTION = re.compile(r'<h2 id="(?P<anchor>[\w-]+)">(?P<title>.*?)</h2>')
_CORRECTION = re.compile(
    r'<p class="mark">.*?<span>(?P<versions>[^<]*)</span></p>\s*'
    r'<h3 id="(?P<anchor>fix-[\w-]+)">(?P<title>.*?)</h3>',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A section of a chapter."""

    anchor: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Where real versions differ from what the field guide says; ``versions`` as the reader sees them."""

    chapter: str
    anchor: str
    title: str
    versions: str


def headings(body: str) -> tuple[Heading, ...]:
    """The sections of a rendered chapter, in their order."""
    return tuple(
        Heading(anchor=found["anchor"], title=strip_tags(found["title"]))
        for found in _SECTION.finditer(body)
    )


def corrections_in(chapter: Chapter, body: str) -> tuple[Correction, ...]:
    """The corrections of a rendered chapter, in their order."""
    return tuple(
        Correction(
            chapter=chapter.slug,
            anchor=found["anchor"],
            title=strip_tags(found["title"]),
            versions=found["versions"],
        )
        for found in _CORRECTION.finditer(body)
    )


@cache
def corrections(language: str) -> tuple[Correction, ...]:
    """Every correction of the guide in a language; read once, for the text ships with the panel."""
    return tuple(
        correction
        for chapter in chapters(language)
        for correction in corrections_in(chapter, render_to_string(chapter.body))
    )

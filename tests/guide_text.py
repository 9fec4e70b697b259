"""The chapters of the guide as tests read them: parsed, by language and slug."""

from functools import cache

from bs4 import BeautifulSoup
from django.template.loader import render_to_string

from deployments.selectors.guide import LANGUAGES, SLUGS, chapters

ADDRESS = "/guide/"


@cache
def body(language: str, slug: str) -> BeautifulSoup:
    """The text of one chapter in one language."""
    chapter = chapters(language)[SLUGS.index(slug)]
    return BeautifulSoup(render_to_string(chapter.body), "lxml")


def words_of(language: str, slug: str) -> str:
    """What a person reads there, with single spaces, plain hyphens and the letter x."""
    return plain(body(language, slug).get_text(" "))


def plain(text: str) -> str:
    """A text with single spaces, and without the signs that look like others."""
    spaced = " ".join(text.split())
    return spaced.replace("\N{EN DASH}", "-").replace("\N{MULTIPLICATION SIGN}", "x")


@cache
def anchors(language: str) -> frozenset[tuple[str, str]]:
    """Every (chapter, id) that a link may lead to."""
    return frozenset(
        (slug, str(element["id"]))
        for slug in SLUGS
        for element in body(language, slug).select("[id]")
    )


__all__ = ["ADDRESS", "LANGUAGES", "SLUGS", "anchors", "body", "plain", "words_of"]

"""The chapters: alike in both languages, complete against the field guide, right in their numbers."""

import re

import pytest
from bs4 import BeautifulSoup, Tag
from django.template.loader import render_to_string

from deployments.selectors.guide import SLUGS, chapters
from deployments.selectors.guide_commands import COMMANDS
from deployments.selectors.guide_contents import corrections, headings
from deployments.telemetry.advice import thresholds_for
from tests.guide_text import ADDRESS, LANGUAGES, anchors, body, words_of

NUMBER = re.compile(r"\d+(?:\.\d+)*")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CORRECTED = {
    "fix-bonus-token",
    "fix-mtp-memory",
    "fix-mtp-depth",
    "fix-tree-attention",
    "fix-eagle3-models",
    "fix-draft-model",
    "fix-retired-methods",
    "fix-deepseek-count",
    "fix-enforce-eager",
    "fix-two-eagers",
    "fix-kv-quality",
    "fix-kimi-prefill",
    "fix-deepseek-eager",
    "fix-start-line",
    "fix-acceptance-line",
    "fix-metrics",
    "fix-benchmark",
    "fix-thresholds",
}


def sections(language: str, slug: str) -> dict[str, Tag]:
    """The sections of a chapter by the id of their heading."""
    found = body(language, slug).select("section")
    return {str(section["aria-labelledby"]): section for section in found}


def facts_of(section: Tag) -> dict[str, object]:
    """What must not differ between languages."""
    return {
        "numbers": set(NUMBER.findall(section.get_text(" "))),
        "ids": [str(element["id"]) for element in section.select("[id]")],
        "commands": [element.get_text() for element in section.select("pre")],
        "code": sorted(element.get_text() for element in section.select("code")),
        "sources": sorted(element.get_text() for element in section.select("cite")),
        "links": sorted(str(element["href"]) for element in section.select("a[href]")),
        "rows": [len(row.select("td, th")) for row in section.select("tr")],
    }


@pytest.mark.parametrize("slug", SLUGS)
def test_both_languages_say_the_same(slug: str) -> None:
    """Sections, numbers, commands, sources and links are equal, in the same order."""
    english, chinese = sections("en", slug), sections("zh-hans", slug)
    assert list(english) == list(chinese)
    for name, section in english.items():
        assert facts_of(section) == facts_of(chinese[name]), name


@pytest.mark.parametrize("slug", SLUGS)
def test_each_language_is_written_in_itself(slug: str) -> None:
    """Chinese paragraphs hold Chinese; English ones hold none."""
    assert not CHINESE.search(words_of("en", slug))
    for paragraph in body("zh-hans", slug).select("p:not(.formula), li, dd"):
        text = paragraph.get_text()
        assert CHINESE.search(text) or len(text) < 40, text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_every_link_leads_somewhere(language: str, slug: str) -> None:
    """Within the chapter, to another, or out to a source."""
    for link in body(language, slug).select("a[href]"):
        address = str(link["href"])
        if address.startswith("https://"):
            assert link.find_parent("cite"), address
            continue
        path, _hash, anchor = address.partition("#")
        chapter = path.removeprefix(ADDRESS).strip("/") or slug
        assert (chapter, anchor) in anchors(language), address


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_correction_shows_versions_what_was_said_and_a_source(
    language: str,
) -> None:
    """They are listed on the first page, too."""
    shown = {
        str(one["aria-labelledby"]): one
        for slug in SLUGS
        for one in body(language, slug).select(".correction")
    }
    assert set(shown) == CORRECTED
    listed = corrections(language)
    assert {one.anchor for one in listed} == CORRECTED
    assert all(one.versions and one.title for one in listed)
    for name, correction in shown.items():
        for part in (".mark span", ".said", "p.source", f"h3#{name}"):
            assert correction.select_one(part), (name, part)


@pytest.mark.parametrize("language", LANGUAGES)
def test_table_of_the_formula_is_computed(language: str) -> None:
    """Length, speed-up with the bonus token, and the two readings without it."""
    rows = body(language, "why").select("#formula-rows tr")
    assert len(rows) == 5
    for row in rows:
        alpha, k, c, *given = [float(cell.get_text()) for cell in row.select("td")]
        length = (1 - alpha ** (k + 1)) / (1 - alpha)
        cost = 1 + k * c
        rate = (length - 1) / k
        expected = [length, length / cost, rate * k / cost, alpha * k / cost]
        assert given == pytest.approx(expected, abs=0.0051)


@pytest.mark.parametrize("language", LANGUAGES)
def test_table_of_thresholds_is_what_the_panel_judges_by(language: str) -> None:
    """Carried over to each count from 60 and 80 % for one token."""
    for row in body(language, "tuning").select("#threshold-rows tr"):
        count, low, high = [
            int(cell.get_text().removesuffix(" %")) for cell in row.select("td, th")
        ]
        limits = thresholds_for(None, count)
        assert (low, high) == (round(limits.low * 100), round(limits.high * 100))


def test_every_command_is_shown() -> None:
    """What nobody shows is not kept."""
    shown = {pre.get_text() for slug in SLUGS for pre in body("en", slug).select("pre")}
    assert shown == set(COMMANDS.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_chapter_has_title_summary_and_introduction(language: str) -> None:
    """The list of chapters is made of them."""
    for chapter in chapters(language):
        assert 1 < len(render_to_string(chapter.title)) < 60
        assert len(render_to_string(chapter.summary)) > 20
    folder = chapters(language)[0].folder
    text = render_to_string(f"guide/{folder}/introduction.html#text")
    assert BeautifulSoup(text, "lxml").get_text(strip=True)


def test_headings_are_read_from_the_text() -> None:
    found = headings('<h2 id="a">One <code>x</code></h2><h3 id="b">Two</h3>')
    assert [(one.anchor, one.title) for one in found] == [("a", "One x")]

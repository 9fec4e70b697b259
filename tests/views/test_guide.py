"""The guide: its chapters in the language of the page, and the links that lead into it."""

import pytest
from django.conf import settings
from django.test import Client

from deployments.models import Cluster, Release, ReleaseState, User
from tests.factories import DeploymentFactory, ReleaseEventFactory
from tests.guide_text import LANGUAGES, SLUGS, anchors
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed, queries_for, text_of
from tests.views.plan_fixtures import (
    at,
    complete_state,
    gpu_host,
    shipped_models,
)

__all__ = ["complete_state", "gpu_host", "shipped_models"]

LARGEST_BYTES = 60_000
MOST_QUERIES = 12
PAGES = ("/guide/", *(f"/guide/{slug}/" for slug in SLUGS))


def reading(client: Client, language: str) -> Client:
    """The same browser with a chosen language."""
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    return client


@pytest.mark.parametrize("page", PAGES)
def test_strangers_are_sent_to_log_in(db: None, page: str) -> None:
    response = Client().get(page)
    assert response.status_code == 302
    assert "/login/" in response.headers["Location"]


def test_people_without_a_team_read_it(db: None) -> None:
    """It holds nothing that belongs to anybody."""
    person = User.objects.create_user(username="nobody", password="x")  # noqa: S106
    client = Client()
    client.force_login(person)
    assert client.get("/guide/why/").status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_it_only_reads(as_alice: Client, page: str) -> None:
    assert as_alice.post(page).status_code == 405


@pytest.mark.parametrize("slug", ["nothing", "introduction", "Why"])
def test_there_is_no_other_chapter(as_alice: Client, slug: str) -> None:
    """What is a template but no chapter is none."""
    assert as_alice.get(f"/guide/{slug}/").status_code == 404


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_pages_are_small_whole_and_without_inline_style(
    as_alice: Client, page: str, language: str
) -> None:
    """Far below the budget of a page, whose rest is scripts and styles."""
    response = reading(as_alice, language).get(page)
    assert response.status_code == 200
    assert len(response.content) < LARGEST_BYTES
    document = parsed(response)
    assert document.select("[style], style, script:not([src])") == []
    assert len(document.select("h1")) == 1
    ids = [str(element["id"]) for element in document.select("[id]")]
    assert len(ids) == len(set(ids))
    regions = [str(one["aria-label"]) for one in document.select("[role=region]")]
    assert len(regions) == len(set(regions))
    assert words(document, ".nav [aria-current=page]")


@pytest.mark.parametrize("page", ["/guide/", "/guide/methods/"])
def test_pages_take_few_queries(as_alice: Client, page: str) -> None:
    as_alice.get(page)
    assert queries_for(as_alice, page) <= MOST_QUERIES


def test_text_follows_the_language(as_alice: Client) -> None:
    """Title, text and the list of chapters."""
    assert text_of(as_alice.get("/guide/why/"), "h1") == "Why speculation is faster"
    response = reading(as_alice, "zh-hans").get("/guide/why/")
    assert text_of(response, "h1") == "投机解码为什么快"
    assert "显存带宽" in text_of(response, "article")
    assert "看懂接受率" in text_of(response, ".guide__side")


def test_first_page_lists_chapters_and_corrections(as_alice: Client) -> None:
    """Each leads to a page, each correction to its place."""
    document = parsed(as_alice.get("/guide/"))
    assert [str(link["href"]) for link in document.select(".chapters a")] == [
        f"/guide/{slug}/" for slug in SLUGS
    ]
    links = [str(link["href"]) for link in document.select(".checks a")]
    assert len(links) == 18
    for link in links:
        path, _hash, anchor = link.partition("#")
        assert (path.split("/")[2], anchor) in anchors("en")


def test_chapters_lead_to_their_neighbours(as_alice: Client) -> None:
    """The first back to the list, the last nowhere on."""
    first = parsed(as_alice.get("/guide/why/"))
    assert first.select_one(".pages-on a[rel=prev]") is None
    assert attribute(first, ".pages-on a[rel=next]", "href") == "/guide/methods/"
    last = parsed(as_alice.get("/guide/rules/"))
    assert last.select_one(".pages-on a[rel=next]") is None
    assert attribute(last, ".pages-on a[rel=prev]", "href") == "/guide/pitfalls/"


def test_chapter_lists_its_sections(as_alice: Client) -> None:
    """Every heading of the text, and the chapter that is open."""
    document = parsed(as_alice.get("/guide/choosing/"))
    side = [str(link["href"]) for link in document.select(".guide__side a[href^='#']")]
    assert side == ["#tree", "#counts"]
    assert words(document, ".guide__side [aria-current]") == "Choosing a method"


def test_commands_can_be_copied_whole(as_alice: Client) -> None:
    """Quotes of JSON survive the attribute."""
    document = parsed(as_alice.get("/guide/ascend/"))
    copied = {str(button["data-copy"]) for button in document.select("[data-copy]")}
    assert copied == {block.get_text() for block in document.select("pre.code")}
    assert any('"method":"deepseek_mtp"' in text for text in copied)


def test_findings_of_a_plan_say_why(as_alice: Client, state: dict[str, object]) -> None:
    """Beside each code stands a link to its rule."""
    document = parsed(as_alice.get(at("review", state)))
    findings = document.select("article.finding")
    assert findings
    for finding in findings:
        code = words(finding, ".mono")
        assert attribute(finding, ".where a.mono", "href") == f"/rules/{code}/"
        reason = attribute(finding, ".where a:not(.mono)", "href")
        assert reason == f"/guide/rules/#rule-{code}"


def test_wizard_names_source_and_chapter_of_every_field(
    as_alice: Client, state: dict[str, object]
) -> None:
    """On every step, in the hint that screen readers read with the field."""
    for step in ("model", "hardware", "workload", "method", "details"):
        document = parsed(as_alice.get(at(step, state)))
        hints = document.select("form .hint")
        assert hints, step
        for hint in hints:
            assert "Source:" in hint.get_text(), hint.get_text()
            assert str(attribute(hint, "a", "href")).startswith("/guide/")


def test_method_cards_lead_to_their_method(
    as_alice: Client, state: dict[str, object]
) -> None:
    document = parsed(as_alice.get(at("method", state)))
    links = {str(link["href"]) for link in document.select(".methods .needs a")}
    assert "/guide/methods/#method-eagle3" in links


def test_failed_release_links_what_its_log_was_diagnosed_with(
    as_alice: Client, alice: User, cluster: Cluster
) -> None:
    """The newest diagnosis counts; without one there is no link."""
    value = plan_value()
    deployment = DeploymentFactory.create(cluster=cluster, created_by=alice)
    release = released(stored(deployment, value), value, ReleaseState.FAILED)
    Release.objects.filter(pk=release.pk).update(cause="It exited with code 1.")
    assert "Why" not in text_of(as_alice.get(f"/releases/{release.pk}/"), ".cause")
    ReleaseEventFactory.create(
        release=release,
        step="START",
        kind="failed",
        detail={"diagnosis": "MTP_WEIGHTS_MISSING"},
    )
    document = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert (
        attribute(document, ".cause a[href^='/rules/']", "href")
        == "/rules/MTP_WEIGHTS_MISSING/"
    )

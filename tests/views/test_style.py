"""The style page: every component is on it, marked as an example, and nothing leads to it."""

from pathlib import Path

from django.test import Client

from deployments.templatetags.status import STATUSES
from deployments.views.style import SECTIONS
from tests.views.pages import parsed, queries_for, text_of

SHOWN_ELSEWHERE = {
    "bar.html",  # the frame of the page itself
    "brand.html",
    "code.html",
    "language.html",
    "foot.html",
    "navigation.html",
    "theme.html",
    "sprite.html",
    "toasts.html",
    "messages.html",
    "connection.html",
    "form_errors.html",
    "error.html",
    "copy.html",
    "icon.html",
    "status.html",
    "spark.html",
    "strip.html",
    "memory.html",
    "phase_icon.html",
    "count_benefit.html",  # the calculator, beside its curve
    "record_curve.html",  # the page that reads a log
}
OF_ONE_PAGE = "plan_"
"""Parts of the wizard's page, which shows them."""


def test_people_must_log_in(client: Client, db: None) -> None:
    assert client.get("/style/").status_code == 302


def test_every_section_is_shown_in_both_themes(as_alice: Client) -> None:
    page = parsed(as_alice.get("/style/"))
    assert [head["id"] for head in page.select("main h2")] == list(SECTIONS)
    for theme in ("light", "dark"):
        shown = page.select(f"[data-specimen={theme}]")
        assert len(shown) == len(SECTIONS)


def test_every_state_is_shown_with_its_word(as_alice: Client) -> None:
    text = text_of(as_alice.get("/style/"))
    for rows in STATUSES.values():
        for status in rows.values():
            assert str(status.label) in text


def test_what_is_shown_is_marked_as_an_example(as_alice: Client) -> None:
    page = parsed(as_alice.get("/style/"))
    assert "examples" in page.select("h1")[0].get_text()
    for head in page.select("main .block-head"):
        assert "example" in head.get_text()


def test_no_id_stands_twice(as_alice: Client) -> None:
    ids = [element["id"] for element in parsed(as_alice.get("/style/")).select("[id]")]
    assert len(ids) == len(set(map(str, ids)))


def test_every_component_is_on_it(repository: Path) -> None:
    sections = "".join(
        path.read_text() for path in repository.glob("templates/style/*.html")
    )
    missing = {
        path.name
        for path in repository.glob("templates/components/*.html")
        if path.name not in SHOWN_ELSEWHERE
        and not path.name.startswith(OF_ONE_PAGE)
        and path.name not in sections
    }
    assert missing == set()


def test_no_page_leads_to_it(as_alice: Client, repository: Path) -> None:
    assert '"/style/"' not in as_alice.get("/").content.decode()
    for path in repository.glob("templates/**/*.html"):
        assert "url 'style'" not in path.read_text(), path


def test_it_takes_few_queries(as_alice: Client) -> None:
    assert queries_for(as_alice, "/style/") <= 4

"""The catalog: filters that stand in the address, and one model with its sources."""

import uuid

import pytest
from django.test import Client

from deployments.models import Team
from deployments.services.catalog import load_shipped_catalog
from tests import factories
from tests.factories import model_document
from tests.views.pages import HTMX, parsed, queries_for, text_of


def names_on(client: Client, query: str = "") -> list[str]:
    """The models that the list shows."""
    page = parsed(client.get(f"/catalog/{query}"))
    return [link.get_text() for link in page.select("#table tbody th a")]


@pytest.fixture
def _models(db: None) -> None:
    """One model with MTP layers, one with an EAGLE-3 head, one whose MTP nobody looked for."""
    factories.TargetModelFactory.create(
        key="example/with-mtp",
        document=model_document("example/with-mtp", has_mtp=True),
    )
    headed = factories.TargetModelFactory.create(
        key="example/with-head",
        document=model_document(
            "example/with-head", has_mtp=False, family="other family"
        ),
    )
    factories.DrafterFactory.create(
        target_model=headed, repository="labs/special-eagle3"
    )
    factories.DrafterFactory.create(
        target_model=headed, repository="labs/second-eagle3"
    )
    factories.TargetModelFactory.create(key="example/unknown")


def test_anonymous_people_are_sent_to_log_in(db: None) -> None:
    """The catalog is for people with an account."""
    assert Client().get("/catalog/").status_code == 302


def test_the_list_cannot_be_posted_to(as_alice: Client) -> None:
    """Filters are a GET form."""
    assert as_alice.post("/catalog/").status_code == 405


@pytest.mark.usefixtures("_models")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["unknown", "with-mtp", "with-head"]),
        ("?q=WITH", ["with-mtp", "with-head"]),
        ("?q=example+head", ["with-head"]),
        ("?q=special-eagle", ["with-head"]),
        ("?family=other+family", ["with-head"]),
        ("?mtp=on", ["with-mtp"]),
        ("?drafter=on", ["with-head"]),
        ("?mtp=on&drafter=on", []),
        ("?family=no+such", ["unknown", "with-mtp", "with-head"]),
    ],
)
def test_filters_narrow_the_list(
    as_alice: Client, query: str, found: list[str]
) -> None:
    """Every word must match name, key, family or a drafter's repository; what is no choice is none."""
    assert names_on(as_alice, query) == found


@pytest.mark.usefixtures("_models")
def test_unknown_is_neither_yes_nor_no(as_alice: Client) -> None:
    """Whether a model has MTP layers may be unknown, and then the page says so."""
    row = parsed(as_alice.get("/catalog/?q=unknown")).select_one("#table tbody tr")
    assert row is not None
    assert "not known" in row.get_text()


@pytest.mark.usefixtures("_models")
def test_methods_of_several_drafters_are_named_once(as_alice: Client) -> None:
    """Two EAGLE-3 heads are one way to draft."""
    row = parsed(as_alice.get("/catalog/?q=head")).select_one("#table tbody tr")
    assert row is not None
    assert row.get_text().count("EAGLE-3") == 1


@pytest.mark.usefixtures("_models")
def test_htmx_gets_the_list_alone(as_alice: Client) -> None:
    """One root element, whose id is the target of the swap."""
    response = as_alice.get("/catalog/?q=mtp", headers=HTMX)
    assert "HX-Request" in response.headers["Vary"]
    body = parsed(response).body
    assert body is not None
    children = body.find_all(recursive=False)
    assert [child.get("id") for child in children] == ["table"]


def test_nothing_found_offers_a_way_back(as_alice: Client) -> None:
    """An empty list says what to do."""
    link = parsed(as_alice.get("/catalog/?q=nothing")).select_one(".empty a")
    assert link is not None
    assert link["href"] == "/catalog/"


def test_a_search_that_cannot_be_read_is_refused_in_place(as_alice: Client) -> None:
    """A zero byte is no text; the page stays usable."""
    response = as_alice.get("/catalog/?q=%00")
    assert response.status_code == 422
    assert "Null characters are not allowed." in text_of(response, ".error-summary")


def test_a_team_sees_its_own_models_and_nobody_elses(
    as_alice: Client, as_charlie: Client, team: Team
) -> None:
    """Rows with a team are that team's, rows without one are everybody's."""
    own = factories.TargetModelFactory.create(team=team, key="team/private")
    assert names_on(as_alice) == ["private"]
    assert names_on(as_charlie) == []
    assert as_charlie.get(f"/catalog/{own.pk}/").status_code == 404
    assert as_alice.get(f"/catalog/{own.pk}/").status_code == 200


def test_a_model_that_is_not_there_is_404(as_alice: Client) -> None:
    """A made-up id leads nowhere."""
    assert as_alice.get(f"/catalog/{uuid.uuid4()}/").status_code == 404


def test_a_model_shows_facts_with_sources_and_leads_to_a_plan(as_alice: Client) -> None:
    """Unknown facts are "no data"; the button carries the catalog key, encoded."""
    row = factories.TargetModelFactory.create(
        key="example/a&b", document=model_document("example/a-b")
    )
    response = as_alice.get(f"/catalog/{row.pk}/")
    page = parsed(response)
    facts = text_of(response, ".sourced")
    assert "8 B config.json of the repository" in facts
    assert "Layers no data" in facts
    button = page.select_one(".head .primary")
    assert button is not None
    assert button["href"] == "/plan/?model=example%2Fa%26b"


def test_an_entry_that_cannot_be_read_says_how_to_mend_it(as_alice: Client) -> None:
    """A stored document of another shape is one sentence, not a broken page."""
    row = factories.TargetModelFactory.create(
        document=model_document("example/odd", surprise=1)
    )
    response = as_alice.get(f"/catalog/{row.pk}/")
    assert response.status_code == 409
    assert "surprise" in text_of(response, ".error-summary")


def test_every_shipped_model_has_a_page(as_alice: Client) -> None:
    """Whatever a catalog entry holds, its page can show it."""
    assert load_shipped_catalog() > 0
    links = parsed(as_alice.get("/catalog/")).select("#table tbody th a")
    for link in links:
        response = as_alice.get(str(link["href"]))
        assert response.status_code == 200, link.get_text()


def test_the_list_takes_few_queries(as_alice: Client) -> None:
    """Checkpoints and drafters of all models come in two queries."""
    load_shipped_catalog()
    assert queries_for(as_alice, "/catalog/") <= 9

"""The finder: what it finds, for whom, in how many queries."""

import pytest
from django.test import Client
from django.utils import translation

from deployments.models import Cluster, Deployment, User
from deployments.selectors.guide import RULES
from deployments.selectors.search_places import PAGES
from tests import factories as f
from tests.views.pages import HTMX, parsed, queries_for, text_of
from tests.world import OWN_ROUTES, ROUTES, is_page

MOST_QUERIES = 12


@pytest.fixture
def chat(cluster: Cluster, alice: User) -> Deployment:
    """A deployment with two releases, on a host."""
    row = f.DeploymentFactory.create(cluster=cluster, name="chat-glm", created_by=alice)
    f.ReleaseFactory.create(deployment=row, number=3, state="stopped")
    f.ReleaseFactory.create(deployment=row, number=4)
    f.HostFactory.create(cluster=cluster, name="gpu-17", address="10.0.0.17")
    return row


def found(client: Client, asked: str) -> dict[str, list[str]]:
    """What fits, by group, from the list that the dialog shows."""
    page = parsed(client.get("/search/", {"q": asked}, headers=HTMX))
    return {
        str(group["aria-label"]): [
            option.get_text(" ", strip=True) for option in group.select("[role=option]")
        ]
        for group in page.select("[role=group]")
    }


@pytest.mark.parametrize(
    ("asked", "group", "first"),
    [
        ("GLM", "Deployments", "chat-glm prod"),
        ("chat prod", "Deployments", "chat-glm prod"),
        ("gpu-1", "Hosts", "gpu-17 prod"),
        ("10.0.0.17", "Hosts", "gpu-17 prod"),
        ("prod", "Clusters", "prod Serving platform"),
        ("chat 3", "Releases", "chat-glm release 3 prod"),
        ("chat-glm release 4", "Releases", "chat-glm release 4 prod"),
        ("fleet", "Pages", "Fleet"),
        ("wizard", "Pages", "Plan a deployment"),
        ("METHOD_CLOSED", "Rules and guide", "METHOD_CLOSED Rule"),
        ("port taken", "Rules and guide", "PORT_TAKEN Rule"),
    ],
)
def test_things_are_found_by_what_people_call_them(
    as_alice: Client, chat: Deployment, asked: str, group: str, first: str
) -> None:
    assert found(as_alice, asked)[group][0] == first


def test_every_page_that_stands_by_itself_is_among_the_pages() -> None:
    alone = {
        one for one in filter(is_page, OWN_ROUTES) if not ROUTES[one].pattern.converters
    }
    listed = {route for route, _title, _words in PAGES}
    assert alone - listed == {"search"}


def test_what_begins_with_the_word_stands_first(
    as_alice: Client, cluster: Cluster
) -> None:
    for name in ("a-glm", "glm-b", "b-glm"):
        f.DeploymentFactory.create(cluster=cluster, name=name)
    names = [one.split()[0] for one in found(as_alice, "glm")["Deployments"]]
    assert names == ["glm-b", "a-glm", "b-glm"]


def test_the_beginning_of_a_digest_is_enough(
    as_alice: Client, chat: Deployment
) -> None:
    plan = chat.releases.get(number=4).plan
    for asked in (plan.digest[:19], plan.digest[7:15]):
        groups = found(as_alice, asked)
        assert any("chat-glm release 4" in one for one in groups["Digest"]), asked
        assert any("Request of chat-glm" in one for one in groups["Digest"])


@pytest.mark.parametrize("asked", ["glm", "gpu", "prod", "chat 3", "10.0.0.17"])
def test_strangers_find_nothing_of_it(
    as_charlie: Client, chat: Deployment, asked: str
) -> None:
    for options in found(as_charlie, asked).values():
        for option in options:
            assert "chat-glm" not in option
            assert "gpu-17" not in option
            assert "prod " not in option


def test_strangers_find_no_digest(as_charlie: Client, chat: Deployment) -> None:
    digest = chat.releases.get(number=4).plan.digest
    assert "Digest" not in found(as_charlie, digest)


def test_without_a_question_it_lists_the_pages(as_alice: Client) -> None:
    assert list(found(as_alice, "")) == ["Pages"]


def test_nothing_fits_is_said(as_alice: Client) -> None:
    answer = as_alice.get("/search/?q=zzzzzz", headers=HTMX)
    assert "Nothing fits" in text_of(answer, "#found")
    assert "Nothing fits" in text_of(as_alice.get("/search/?q=zzzzzz"))


def test_the_page_works_without_scripts(as_alice: Client, chat: Deployment) -> None:
    page = parsed(as_alice.get("/search/?q=glm"))
    links = [str(link["href"]) for link in page.select("main .found a")]
    assert f"/deployments/{chat.pk}/" in links
    more = [str(link["href"]) for link in page.select("main .block-head a")]
    assert "/deployments/?q=glm" in more
    box = page.select_one(".find input")
    assert box is not None
    assert box["name"] == "q"


def test_a_question_that_cannot_be_read_is_refused(as_alice: Client) -> None:
    answer = as_alice.get("/search/?q=%00")
    assert answer.status_code == 422
    assert "Null characters" in text_of(answer, ".error-summary")


@pytest.mark.parametrize("asked", ["glm", "chat 3", "sha256:abcdef", "a b c d e f g h"])
def test_it_takes_few_queries(as_alice: Client, chat: Deployment, asked: str) -> None:
    assert queries_for(as_alice, f"/search/?q={asked}") <= MOST_QUERIES


def test_anonymous_people_are_sent_to_log_in(client: Client, db: None) -> None:
    assert client.get("/search/?q=glm").status_code == 302


def test_every_rule_is_found(as_alice: Client) -> None:
    with translation.override("en"):
        for code in RULES:
            assert any(
                one.startswith(code) for one in found(as_alice, code)["Rules and guide"]
            ), code

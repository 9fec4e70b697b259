"""The reference of rules: the list and its filters, and one page for every code."""

import pytest
from django.test import Client
from django.utils import translation

from deployments.planning.failures.known import KNOWN_FAILURES
from deployments.planning.rules.cards import PLAN_CARDS
from deployments.planning.rules.launch.lint import CARDS
from deployments.selectors.guide import RULES
from deployments.selectors.rules import CATEGORY_TITLES, plan_texts, rule_entries
from deployments.services.catalog import load_shipped_catalog
from tests.views.pages import HTMX, parsed, queries_for, text_of

MOST_QUERIES = 12


def listed(client: Client, **query: str) -> set[str]:
    """The codes on the list."""
    page = parsed(client.get("/rules/", query))
    return {link.get_text() for link in page.select(".rule-list a")}


def test_the_list_holds_every_rule_once(as_alice: Client) -> None:
    launch, plan = ({card.code for card in CARDS}, {card.code for card in PLAN_CARDS})
    failures = {one.code for one in KNOWN_FAILURES}
    assert listed(as_alice) == launch | plan | failures
    assert len(as_alice.get("/rules/").content) < 150_000
    assert queries_for(as_alice, "/rules/") <= MOST_QUERIES


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ({"q": "SPEC_JSON"}, "SPEC_JSON_INVALID", "FLAG_UNKNOWN"),
        ({"q": "spec json"}, "SPEC_JSON_INVALID", "FLAG_UNKNOWN"),
        ({"q": "single quotes"}, "VARIABLE_IN_SINGLE_QUOTES", "FLAG_UNKNOWN"),
        ({"severity": "info"}, "PRACTICE_IMAGE", "SPEC_JSON_INVALID"),
        ({"category": "quoting"}, "SPEC_JSON_INVALID", "FLAG_UNKNOWN"),
        ({"kind": "plan"}, "MEMORY_TIGHT", "SPEC_JSON_INVALID"),
        ({"kind": "failure"}, "MTP_WEIGHTS_MISSING", "MEMORY_TIGHT"),
        (
            {"q": "shared_head", "kind": "failure"},
            "MTP_WEIGHTS_MISSING",
            "NIXL_MISSING",
        ),
        ({"kind": "launch"}, "SPEC_JSON_INVALID", "MEMORY_TIGHT"),
    ],
)
def test_the_list_is_narrowed(
    as_alice: Client, query: dict[str, str], inside: str, outside: str
) -> None:
    found = listed(as_alice, **query)
    assert inside in found
    assert outside not in found


def test_a_filter_that_nobody_offers_is_refused_and_shows_all(as_alice: Client) -> None:
    response = as_alice.get("/rules/", {"severity": "fatal"})
    assert response.status_code == 422
    assert len(parsed(response).select(".rule-list a")) == len(rule_entries())


def test_an_htmx_request_gets_the_rules_alone(as_alice: Client) -> None:
    response = as_alice.get("/rules/", {"q": "zzzz"}, headers=HTMX)
    assert response.content.lstrip().startswith(b'<div id="rules-found"')
    assert "No rule fits" in response.content.decode()


def _one_of_each_subject() -> list[str]:
    """The first code of every category, and the first over plans alone."""
    first: dict[tuple[str, bool], str] = {}
    for code, one in rule_entries().items():
        first.setdefault((one.category, one.launch is None), code)
    return list(first.values())


def _has_its_page(client: Client, code: str) -> None:
    rule = rule_entries()[code]
    response = client.get(f"/rules/{code}/")
    assert response.status_code == 200
    assert text_of(response, "h1") == code
    assert text_of(response, ".sub")
    if rule.launch:
        assert code in text_of(response, "[aria-labelledby=h-fires] .finding")
        assert parsed(response).select("[aria-labelledby=h-misses] .code")
    if rule.plan:
        section = parsed(response).select_one("[aria-labelledby=h-plan]")
        assert section is not None
        assert code in section.get_text()
        assert len(section.select(".code")) == len(("fires", "misses"))


def test_a_rule_of_every_subject_has_its_page(as_alice: Client) -> None:
    load_shipped_catalog()
    for code in _one_of_each_subject():
        _has_its_page(as_alice, code)


@pytest.mark.slow
def test_every_rule_has_its_page(as_alice: Client) -> None:
    load_shipped_catalog()
    for code in rule_entries():
        _has_its_page(as_alice, code)


def test_the_example_of_a_rule_can_be_checked(as_alice: Client) -> None:
    page = parsed(as_alice.get("/rules/SPEC_JSON_INVALID/"))
    link = page.select_one("section[aria-labelledby=h-fires] .source a[href*=launch]")
    assert link is not None
    assert "SPEC_JSON_INVALID" in text_of(as_alice.get(str(link["href"])), ".script")


def test_a_code_that_no_rule_has_is_not_found(as_alice: Client) -> None:
    assert as_alice.get("/rules/NO_SUCH_RULE/").status_code == 404


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_rule_over_plans_is_explained(language: str) -> None:
    with translation.override(language):
        said = plan_texts(language)
    assert {card.code for card in PLAN_CARDS} <= said.keys()
    assert set(RULES) <= {card.code for card in PLAN_CARDS}
    assert all(said.values())


def test_every_subject_has_a_title() -> None:
    assert {one.category for one in rule_entries().values()} <= CATEGORY_TITLES.keys()

"""Settings of a person, the theme switch, and the language of the pages."""

import pytest
from django import forms
from django.test import Client
from pytest_django.asserts import assertHTMLEqual

from deployments.forms.settings import LongSelect
from deployments.models import Cluster, Density, Theme, User
from tests.views.pages import parsed, text_of

CHOICE = {
    "language": "",
    "time_zone": "Asia/Shanghai",
    "theme": "dark",
    "density": "compact",
}


def test_anonymous_people_have_no_settings(db: None) -> None:
    """They are sent to log in, also when they post."""
    assert Client().get("/settings/").status_code == 302
    assert Client().post("/settings/theme/", {"theme": "dark"}).status_code == 302


def test_settings_are_kept_and_used_by_the_next_page(
    as_alice: Client, alice: User
) -> None:
    """Theme and density stand on the root element, so that nothing flashes."""
    response = as_alice.post("/settings/", CHOICE, follow=True)
    assert response.redirect_chain == [("/settings/", 302)]
    assert "Your settings are kept." in text_of(response, ".messages")
    root = parsed(response).html
    assert root is not None
    assert (root["data-theme"], root["data-density"]) == ("dark", "compact")
    alice.refresh_from_db()
    assert alice.time_zone == "Asia/Shanghai"
    assert alice.density == Density.COMPACT


def test_without_a_choice_the_browser_decides_the_theme(as_alice: Client) -> None:
    """The root element carries no theme then."""
    root = parsed(as_alice.get("/settings/")).html
    assert root is not None
    assert not root.has_attr("data-theme")


def test_the_chosen_language_is_the_pages_language(as_alice: Client) -> None:
    """Browsers and screen readers read it from the root element."""
    response = as_alice.post(
        "/settings/", {**CHOICE, "language": "zh-hans"}, follow=True
    )
    root = parsed(response).html
    assert root is not None
    assert root["lang"] == "zh-Hans"
    offered = [button.get_text() for button in parsed(response).select(".bar [lang]")]
    assert offered == ["English"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time_zone", "Mars/Base"),
        ("theme", "pink"),
        ("density", ""),
        ("language", "xx"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused(
    as_alice: Client, alice: User, field: str, value: str
) -> None:
    """422, and nothing is kept."""
    response = as_alice.post("/settings/", {**CHOICE, field: value})
    assert response.status_code == 422
    assert parsed(response).select_one(".error-summary") is not None
    alice.refresh_from_db()
    assert (alice.theme, alice.time_zone) == (Theme.SYSTEM, "")


def test_the_switch_in_the_bar_changes_the_theme_and_comes_back(
    as_alice: Client, alice: User
) -> None:
    """It works without scripts, and goes round: system, light, dark."""
    form = parsed(as_alice.get("/settings/")).select_one(".bar form[data-theme-form]")
    assert form is not None
    values = {str(field["name"]): str(field["value"]) for field in form.select("input")}
    assert values["theme"] == "light"
    response = as_alice.post("/settings/theme/", {**values, "next": "/fleet/?a=b"})
    assert response.headers["Location"] == "/fleet/?a=b"
    alice.refresh_from_db()
    assert alice.theme == Theme.LIGHT


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", ""])
def test_the_switch_never_leads_off_the_panel(as_alice: Client, target: str) -> None:
    """Only addresses of the panel are gone back to."""
    response = as_alice.post("/settings/theme/", {"theme": "dark", "next": target})
    assert response.headers["Location"] == "/"


def test_the_switch_refuses_what_is_no_theme(as_alice: Client) -> None:
    """A made-up value changes nothing."""
    assert as_alice.post("/settings/theme/", {"theme": "pink"}).status_code == 422


def test_the_switch_does_not_work_by_get(as_alice: Client) -> None:
    """A link must not change a setting."""
    assert as_alice.get("/settings/theme/").status_code == 405


def test_a_table_changes_the_density_and_is_shown_again(
    as_alice: Client, alice: User, cluster: Cluster
) -> None:
    """Without scripts too; the switch then offers the way back."""
    address = "/deployments/?sort=-name"
    values: dict[str, str] = {}
    for compact, label in ((True, "Compact rows"), (False, "Roomy rows")):
        form = parsed(as_alice.get(address)).select_one("[data-density-form]")
        assert form is not None
        assert form.get_text(strip=True) == label
        values = {str(one["name"]): str(one["value"]) for one in form.select("input")}
        answer = as_alice.post(str(form["action"]), values)
        assert answer.headers["Location"] == address
        root = parsed(as_alice.get(address)).html
        assert root is not None
        assert root.has_attr("data-density") is compact
    assert as_alice.get("/settings/density/").status_code == 405
    wrong = as_alice.post("/settings/density/", {**values, "density": "none"})
    assert wrong.status_code == 422
    alice.refresh_from_db()
    assert alice.density == Density.COMFORTABLE


@pytest.mark.parametrize("value", [None, "", "UTC", "Asia/Shanghai", "Mars/Base"])
def test_a_long_list_is_the_same_element_as_a_plain_one(value: str | None) -> None:
    choices = [("", "As the <panel>"), ("UTC", "UTC"), ("Asia/Shanghai", "上海")]
    attrs = {"id": "id_zone", "required": True, "aria-invalid": "true"}
    plain, long = (
        kind(choices=choices).render("zone", value, attrs)
        for kind in (forms.Select, LongSelect)
    )
    assertHTMLEqual(long, plain)

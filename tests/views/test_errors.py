"""Error pages: one clear sentence and a way on, with and without a request."""

import pytest
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.views import defaults

from tests.views.pages import parsed, text_of


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "500"])
def test_error_pages_need_no_request(name: str) -> None:
    """Django renders some of them with nothing at hand."""
    page = render_to_string(f"{name}.html")
    assert page.count("<h1>") == 1
    assert 'href="/"' in page
    assert name[:3] in page


def test_an_unknown_address_says_so_in_the_house_style(as_alice: Client) -> None:
    """Logged in or not, the page leads back."""
    for client in (as_alice, Client()):
        response = client.get("/no/such/page/")
        assert response.status_code == 404
        assert "There is nothing here" in text_of(response, "h1")


def test_a_form_from_another_session_is_refused_with_a_reason(as_alice: Client) -> None:
    """CSRF is checked on every change."""
    client = Client(enforce_csrf_checks=True)
    client.cookies = as_alice.cookies
    response = client.post("/settings/theme/", {"theme": "dark"})
    assert response.status_code == 403
    assert "The form is out of date" in text_of(response, "h1")


def test_a_mistake_of_the_panel_tells_nothing_about_itself(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has no trace of the exception."""

    def broken(*_args: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("deployments.views.fleet.fleet_of", broken)
    as_alice.raise_request_exception = False
    response = as_alice.get("/fleet/")
    assert response.status_code == 500
    assert "The panel made a mistake" in text_of(response, "h1")
    assert b"secret detail" not in response.content


def test_a_request_that_cannot_be_read_is_400(rf: RequestFactory) -> None:
    """What Django itself refuses looks like the rest."""
    request: HttpRequest = rf.get("/")
    response = defaults.bad_request(request, SuspiciousOperation("odd host"))
    assert response.status_code == 400
    assert "cannot be read" in text_of(response, "h1")
    assert parsed(response).select("main a")

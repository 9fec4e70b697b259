"""Reading a log in a browser: without a reload, without JavaScript, in both languages, on a phone."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from deployments.models import TeamRole
from deployments.selectors.log_examples import EXAMPLES
from tests.factories import TeamFactory, member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LOOKS = (("en", "light", 1440), ("zh-hans", "dark", 390))


def tab(
    browser: Browser, server: LiveServer, look: tuple[str, str, int], *, scripts: bool
) -> Page:
    """A tab of an operator in a language, a theme and a width, with or without JavaScript."""
    language, scheme, width = look
    client = Client()
    team = TeamFactory.create(name="alpha", slug="alpha")
    client.force_login(member(team, "alice", TeamRole.OPERATOR))
    context = browser.new_context(
        base_url=server.url,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
    )
    values = {name: morsel.value for name, morsel in client.cookies.items()}
    values[settings.LANGUAGE_COOKIE_NAME] = language
    for name, value in values.items():
        context.add_cookies([{"name": name, "value": value, "url": server.url}])
    return context.new_page()


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0]}-{look[2]}")
def test_a_pasted_log_is_answered_in_place(
    browser: Browser, live_server: LiveServer, screens: Path, look: tuple[str, str, int]
) -> None:
    page = tab(browser, live_server, look, scripts=True)
    page.goto("/logs/read/")
    for example in EXAMPLES:
        page.locator("textarea[name=content]").fill(example.content)
        page.locator("#log-form button.primary").click()
        page.locator("#log-answer .verdict").wait_for()
        page.wait_for_function(
            "key => document.querySelector({acceptance: '#log-answer svg.chart', "
            "failure: '#log-answer .finding', metrics: '#h-metrics'}[key])",
            arg=example.key,
        )
        page.screenshot(
            path=str(screens / f"log-{example.key}-{look[0]}-{look[2]}.png"),
            full_page=True,
        )
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        report = Axe().run(page)
        assert not report.response["violations"], report.generate_report()
    assert page.url.endswith("/logs/read/")


def test_it_works_without_javascript(browser: Browser, live_server: LiveServer) -> None:
    page = tab(browser, live_server, LOOKS[0], scripts=False)
    page.goto("/logs/read/")
    page.locator("textarea[name=content]").fill(EXAMPLES[1].content)
    page.locator("#log-form button.primary").click()
    assert "MTP_WEIGHTS_MISSING" in page.locator("#log-answer").inner_text()
    assert page.locator("textarea[name=content]").input_value().strip()

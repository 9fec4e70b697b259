"""The calculator in a real browser: each change is answered in place, and the address follows."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from deployments.models import Team
from tests.e2e.test_every_page import tab
from tests.factories import TargetModelFactory, TeamFactory
from tests.wizard_values import DOCUMENTS, GLM, QWEN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_choice_is_answered_in_place_and_the_address_follows(
    browser: Browser, live_server: LiveServer
) -> None:
    for key in (GLM, QWEN):
        TargetModelFactory.create(key=key, name=key, document=DOCUMENTS[key])
    team: Team = TeamFactory.create()
    page = tab(browser, live_server, team, ("en", "light", 1440))
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto("/calculator/")

    page.locator("#id_model").select_option(GLM)
    page.locator("#id_platform").select_option("ascend-a3")
    page.locator("#id_devices").fill("16")
    expect(page.locator("#id_device")).to_have_value("910C die")
    page.locator("#id_concurrency").fill("40")

    expect(page.locator("#calculator-answer")).to_contain_text("With 40 requests")
    assert page.evaluate("document.activeElement.id") == "id_concurrency"
    assert "concurrency=40" in page.url
    answer = page.locator("#calculator-answer .facts").first.inner_text()
    page.reload()
    assert page.locator("#calculator-answer .facts").first.inner_text() == answer
    assert not faults
    page.context.close()

"""The guide in a real browser: readable by everybody, in both languages, themes and sizes."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, Response
from pytest_django.live_server_helper import LiveServer

from deployments.models import TeamRole
from deployments.selectors.guide import SLUGS
from tests.factories import TeamFactory, member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = ("/guide/", *(f"/guide/{slug}/" for slug in SLUGS))
BUDGET_BYTES = 150 * 1024
LOOKS = (
    ("en", "light", 1440),
    ("zh-hans", "dark", 390),
)
MORE_LOOKS = (
    ("en", "dark", 390),
    ("zh-hans", "light", 1440),
)


def opened(browser: Browser, server: LiveServer, look: tuple[str, str, int]) -> Page:
    """A tab of somebody who is logged in, with a language, a theme and a width."""
    language, scheme, width = look
    person = member(TeamFactory.create(), "alice", TeamRole.VIEWER)
    client = Client()
    client.force_login(person)
    context = browser.new_context(
        base_url=server.url,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    values = {name: morsel.value for name, morsel in client.cookies.items()}
    values[settings.LANGUAGE_COOKIE_NAME] = language
    for name, value in values.items():
        context.add_cookies([{"name": name, "value": value, "url": server.url}])
    return context.new_page()


@pytest.mark.parametrize(
    "look", [*LOOKS, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE_LOOKS)]
)
def test_everybody_can_read_every_page(
    browser: Browser, live_server: LiveServer, look: tuple[str, str, int]
) -> None:
    """Axe finds nothing, nothing sticks out sideways, no script fails."""
    page = opened(browser, live_server, look)
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    for path in PAGES:
        page.goto(path)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], path
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, path
    assert broken == []


def test_a_page_stays_within_its_budget(
    browser: Browser, live_server: LiveServer
) -> None:
    """All that an empty cache has to fetch, uncompressed."""
    page = opened(browser, live_server, LOOKS[0])
    sizes: dict[str, int] = {}

    def note(response: Response) -> None:
        sizes[response.url] = len(response.body())

    page.on("response", note)
    page.goto("/guide/methods/")
    page.wait_for_load_state("networkidle")
    assert len(sizes) > 5
    assert sum(sizes.values()) < BUDGET_BYTES, sizes


def test_a_command_is_copied(browser: Browser, live_server: LiveServer) -> None:
    """Exactly what stands in the block, quotes and all."""
    page = opened(browser, live_server, LOOKS[0])
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/guide/ascend/")
    page.get_by_role("button", name="Copy Decode, bold: 3 tokens").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("Decode, bold: 3 tokens").inner_text()


def test_a_link_from_a_rule_shows_its_place(
    browser: Browser, live_server: LiveServer
) -> None:
    """The heading stands below the bar, not behind it."""
    page = opened(browser, live_server, LOOKS[0])
    page.goto("/guide/rules/#rule-MTP_LAYER_REUSED")
    entry = page.locator("#rule-MTP_LAYER_REUSED").bounding_box()
    bar = page.locator("header.bar").bounding_box()
    assert entry is not None
    assert bar is not None
    assert bar["height"] - 1 <= entry["y"] < 900  # lines fall on fractions of a pixel

"""Every page in a real browser: nothing to fault for axe, nothing too wide, no script error."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from deployments.models import Team, TeamRole
from tests.factories import member
from tests.world import OBJECT_ROUTES, OWN_ROUTES, World, is_page, own_address

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LOOKS = (
    ("en", "light", 1440),
    ("zh-hans", "dark", 390),
)
MORE_LOOKS = (
    ("en", "dark", 390),
    ("zh-hans", "light", 1440),
    ("en", "light", 720),
)
AXE_OPTIONS = {"preload": False}
"""Fetching sheets anew, it looks for imported ones beside the page instead of beside the sheet."""
PAGES = [route for route in OWN_ROUTES if is_page(route)]


def tab(
    browser: Browser, server: LiveServer, team: Team, look: tuple[str, str, int]
) -> Page:
    """A tab of somebody with every role, in a language, a theme and a width."""
    language, scheme, width = look
    client = Client()
    client.force_login(member(team, "alice", *TeamRole))
    context = browser.new_context(
        base_url=server.url,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
        locale="zh-CN" if language.startswith("zh") else "en-GB",
    )
    values = {name: morsel.value for name, morsel in client.cookies.items()}
    values[settings.LANGUAGE_COOKIE_NAME] = language
    for name, value in values.items():
        context.add_cookies([{"name": name, "value": value, "url": server.url}])
    return context.new_page()


def walk(page: Page, world: World, screens: Path, look: tuple[str, str, int]) -> None:
    """Open every page, look at it, and keep a picture."""
    language, scheme, width = look
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "console",
        lambda message: said.append(message.text) if message.type == "error" else None,
    )
    faults: list[str] = []
    for route in PAGES:
        answer = page.goto(own_address(route, world))
        assert answer is not None
        # What this small world lacks is said on a page that has to be as good as the others.
        assert answer.status in {200, 422}, route
        found = Axe().run(page, options=AXE_OPTIONS).response["violations"]
        faults += [f"{route}: {one['id']}: {one['nodes'][0]['html']}" for one in found]
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        faults += [f"{route}: {wider} px too wide"] if wider > 0 else []
        folder = screens / f"{language}-{scheme}-{width}"
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{route}.png", full_page=True)
    refused = "status of 422"
    assert faults + [one for one in said if refused not in one] == []


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_can_be_used_by_everybody(
    browser: Browser, live_server: LiveServer, screens: Path, look: tuple[str, str, int]
) -> None:
    world = World("everybody")
    page = tab(browser, live_server, world.team, look)
    walk(page, world, screens, look)
    page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("look", MORE_LOOKS)
def test_every_page_in_the_other_looks(
    browser: Browser, live_server: LiveServer, screens: Path, look: tuple[str, str, int]
) -> None:
    world = World("others")
    page = tab(browser, live_server, world.team, look)
    walk(page, world, screens, look)
    page.context.close()


def test_most_addresses_are_pages() -> None:
    assert len(PAGES) > 15
    assert set(OBJECT_ROUTES) & set(PAGES)

"""Everything by keyboard: the finder, shortcuts, tables, and what a lost connection says."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.full_panel import FullPanel

pytestmark = pytest.mark.browser
PLACES = {
    "o": "/",
    "d": "/deployments/",
    "a": "/approvals/",
    "p": "/plan/",
    "c": "/catalog/",
    "h": "/fleet/",
    "g": "/guide/",
    "s": "/settings/",
}


@pytest.fixture
def page(browser: Browser, filled: FullPanel) -> Iterator[Page]:
    """A tab of somebody who is logged in, on the list of deployments."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    filled.log_in(context)
    tab = context.new_page()
    failures: list[str] = []
    tab.on("pageerror", lambda error: failures.append(str(error)))
    tab.goto(f"{filled.address}/deployments/")
    yield tab
    context.close()
    assert failures == []


def focused(page: Page) -> str:
    """What has the focus: its id, else its text."""
    text: str = page.evaluate(
        "document.activeElement.id || document.activeElement.textContent.trim()"
    )
    return text


@pytest.mark.parametrize("keys", ["/", "Control+k"])
def test_the_finder_opens_finds_and_leads_there(page: Page, keys: str) -> None:
    page.keyboard.press(keys)
    expect(page.locator("#finder")).to_be_visible()
    assert focused(page) == "finder-text"
    page.keyboard.type("gpu-00")
    expect(page.locator("#found [role=option]").first).to_contain_text("gpu-00")
    expect(page.locator("#found [aria-selected=true]")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    second = page.locator("#found [role=option]").nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/fleet/hosts/.+/"))


def test_the_finder_gives_the_focus_back(page: Page) -> None:
    link = page.locator("#table tbody th a").first
    link.focus()
    before = focused(page)
    page.keyboard.press("/")
    page.keyboard.type("glm")
    for _ in range(6):
        page.keyboard.press("Tab")
        inside = page.evaluate(
            "document.activeElement === document.body"
            " || document.getElementById('finder').contains(document.activeElement)"
        )
        assert inside
    page.keyboard.press("Escape")
    expect(page.locator("#finder")).to_be_hidden()
    assert focused(page) == before


def test_shortcuts_are_listed(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    expect(page.locator("#shortcuts")).to_contain_text("Find anything")
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_hidden()


def test_g_and_a_letter_go_to_a_page(page: Page, filled: FullPanel) -> None:
    page.goto(f"{filled.address}/search/")
    for key, path in PLACES.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"{filled.address}{path}")


def test_no_shortcut_fires_while_somebody_types(page: Page) -> None:
    page.locator("#table-search").focus()
    page.keyboard.type("g d?/jk")
    expect(page.locator("#table-search")).to_have_value("g d?/jk")
    expect(page.locator("#finder")).to_be_hidden()
    expect(page.locator("#shortcuts")).to_be_hidden()
    assert "/deployments/" in page.url
    page.keyboard.press("Escape")
    assert focused(page) != "table-search"


def test_rows_are_walked_and_selected(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("tr[data-row]").nth(1)
    expect(second).to_be_focused()
    outline = second.evaluate("row => getComputedStyle(row).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Space")
    expect(second.locator("[name=row]")).to_be_checked()
    expect(page.locator("[data-picked]")).to_have_text("1 selected")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator("[data-picked]")).to_have_text("2 selected")
    page.keyboard.press("k")
    page.keyboard.press("Space")
    expect(page.locator("[data-picked]")).to_have_text("1 selected")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/deployments/[0-9a-f-]{36}/"))


def test_the_act_is_offered_only_for_selected_rows(page: Page) -> None:
    act = page.locator("#bulk summary")
    expect(act).to_be_hidden()
    page.locator("[data-pick-all]").check()
    expect(act).to_be_visible()
    expect(page.locator("[data-picked]")).to_contain_text("selected")
    page.locator("[data-pick-all]").uncheck()
    expect(act).to_be_hidden()


def test_a_search_stands_in_the_address_and_keeps_the_focus(page: Page) -> None:
    page.keyboard.press("f")
    page.keyboard.type("qwen3-32b-00002")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    assert "q=qwen3-32b-00002" in page.url
    assert focused(page) == "table-search"
    page.reload()
    expect(page.locator("tr[data-row]")).to_have_count(1)


def test_another_language_keeps_the_address_and_what_was_typed(
    page: Page, filled: FullPanel
) -> None:
    page.locator("#table-search").fill("glm")
    page.wait_for_url(re.compile(r"/deployments/\?q=glm\b"))
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator("#table-search")).to_have_value("glm")
    page.goto(f"{filled.address}/fleet/hosts/add/")
    page.locator("#id_name").fill("gpu-of-tomorrow")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("#id_name")).to_have_value("gpu-of-tomorrow")


def test_tables_work_without_scripts(browser: Browser, filled: FullPanel) -> None:
    context = browser.new_context(java_script_enabled=False)
    filled.log_in(context)
    tab = context.new_page()
    tab.goto(f"{filled.address}/deployments/")
    name = tab.locator("tr[data-row]:has([name=row]) a").first.inner_text()
    tab.locator("#table-search").fill(name)
    tab.get_by_role("button", name="Show", exact=True).click()
    expect(tab.locator("tr[data-row]")).to_have_count(1)
    expect(tab.locator("tr[data-row] [name=row]")).to_have_count(1)
    tab.locator("#bulk summary").click()
    expect(tab.get_by_role("button", name="Stop now")).to_be_visible()
    tab.goto(f"{filled.address}/")
    tab.locator(".find input").fill(name)
    tab.keyboard.press("Enter")
    expect(tab.locator("main .found a").first).to_have_text(re.compile(f"^{name}"))
    context.close()


@pytest.mark.parametrize("lost", ["abort", "error"])
def test_a_lost_connection_is_said_and_recovers(
    page: Page, filled: FullPanel, lost: str
) -> None:
    page.goto(f"{filled.address}{filled.rows['moving']}")
    summary = page.locator("main a").first
    summary.focus()
    before = focused(page)

    def cut(route: Route) -> None:
        if lost == "abort":
            route.abort()
        else:
            route.fulfill(status=502, body="")

    page.route("**/progress/**", cut)
    note = page.locator("#connection")
    expect(note).to_be_visible(timeout=10_000)
    expect(note).to_contain_text("cannot be reached")
    expect(page.locator("[data-stale]")).to_have_count(1)
    expect(page.locator("#toasts .toast")).to_have_count(0)
    assert focused(page) == before
    page.unroute("**/progress/**")
    expect(note).to_contain_text("Connected again", timeout=10_000)
    expect(page.locator("[data-stale]")).to_have_count(0)
    expect(note).to_be_hidden(timeout=10_000)
    assert focused(page) == before

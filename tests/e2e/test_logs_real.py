"""The log of a real container: web, worker, beat and Docker Engine as they run in production."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.panel import RunningPanel
from tests.e2e.person import Person, add_person, plan_practice, tab_of

pytestmark = [pytest.mark.browser, pytest.mark.docker]

LIVE_WITHIN_MS = 90_000
SOON_MS = 10_000


@pytest.fixture(scope="module")
def operator(panel: RunningPanel) -> Person:
    """Plans, deploys and looks on."""
    return add_person(panel, "olga", "operator")


@pytest.fixture(scope="module")
def approver(panel: RunningPanel) -> Person:
    """Approves."""
    return add_person(panel, "otto", "approver")


def deployed(page: Page, theirs: Page, panel: RunningPanel, name: str) -> None:
    """Plan the practice image, have it approved, and press the button."""
    plan_practice(page, panel, "Qwen3-8B", name)
    page.get_by_role("button", name="Submit for approval").click()
    page.wait_for_url("**/approvals/**")
    request = page.url
    theirs.goto(request)
    theirs.get_by_role("button", name=re.compile("^Approve")).click()
    page.goto(request)
    page.get_by_role("button", name=re.compile("^Deploy")).click()
    page.wait_for_url("**/releases/**")


def test_the_log_of_a_starting_and_of_a_running_container_is_followed(
    panel: RunningPanel,
    browser: Browser,
    operator: Person,
    approver: Person,
    screens: Path,
) -> None:
    page = tab_of(browser, panel, operator)
    deployed(page, tab_of(browser, panel, approver), panel, "watched")
    small = page.locator(".small-log")
    expect(small).to_contain_text("(APIServer pid=", timeout=LIVE_WITHIN_MS)
    page.screenshot(path=screens / "release-log.png", full_page=True)
    expect(page.get_by_text("answers requests")).to_be_visible(timeout=LIVE_WITHIN_MS)

    page.get_by_role("link", name="watched", exact=True).first.click()
    page.get_by_role("link", name="Logs", exact=True).click()
    expect(page.locator(".log")).to_contain_text(
        "Initializing a V1 LLM engine", timeout=SOON_MS
    )
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    expect(page.locator(".log__chip").first).to_be_visible(timeout=LIVE_WITHIN_MS)
    seen = page.locator(".log__line").count()
    expect(page.locator(".log__line").nth(seen)).to_be_visible(timeout=LIVE_WITHIN_MS)
    page.locator(".log__chip").first.hover()
    expect(page.locator(".log__tip").first).to_contain_text("acceptance rate")
    page.screenshot(path=screens / "logs.png", full_page=True)

    page.locator("#id_q").fill(r"accepted: \d+ tokens")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("mark").first).to_have_text(
        re.compile(r"^Accepted: \d+ tokens$")
    )
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert saved.value.suggested_filename == "watched.log.txt"
    assert "SpecDecoding metrics" in text
    assert "Initializing" not in text

"""The screens of the README, taken from a running panel: ``make screens`` writes them anew."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.engine_log import containers, printed
from tests.e2e.panel import RunningPanel, wait_for
from tests.e2e.person import Person, log_in, plan_practice

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.slow]

SCREENS = ("method", "approval", "release", "acceptance")
WINDOWS = 4
LIVE_WITHIN_MS = 90_000
REFERENCE = re.compile(r"docs/screens/([a-z]+)\.png")


def test_the_screens_show_the_panel_as_it_is(
    panel: RunningPanel,
    browser: Browser,
    admin: Person,
    docker_host: str,
    repository: Path,
) -> None:
    folder = repository / "docs" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = log_in(context.new_page(), panel, admin)

    def shot(name: str) -> None:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=folder / f"{name}.png")

    plan_practice(page, panel, "Qwen3-8B", "qwen3-chat")
    review = page.url
    page.goto(review.replace("step=review", "step=method"))
    shot("method")
    page.goto(review)
    page.get_by_role("button", name="Submit for approval").click()
    page.wait_for_url("**/approvals/**")
    page.reload()
    shot("approval")
    page.get_by_role("button", name=re.compile("^Approve")).click()
    page.get_by_role("button", name=re.compile("^Deploy")).click()
    page.wait_for_url("**/releases/**")
    expect(page.get_by_text("as planned", exact=True)).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )
    page.reload()
    shot("release")
    (container,) = containers(docker_host, "qwen3-chat")
    wait_for(
        "several windows",
        lambda: printed(docker_host, container).lines >= WINDOWS,
        timeout_s=90,
    )
    page.get_by_role("link", name="Watch what is accepted").click()
    page.wait_for_url("**/deployments/**")
    page.wait_for_load_state("networkidle")
    shot("acceptance")
    context.close()


def test_the_readme_shows_every_screen(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    shown = REFERENCE.findall(readme)
    assert sorted(shown) == sorted(SCREENS)
    for name in shown:
        assert (repository / "docs" / "screens" / f"{name}.png").stat().st_size > 10_000

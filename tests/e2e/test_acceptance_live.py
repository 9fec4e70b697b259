"""The acceptance page renews itself under somebody who reads it, and only then."""

import re
import time
import uuid

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.e2e.test_every_page import tab
from tests.factories import AcceptanceSampleFactory
from tests.world import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

POLL = "document.querySelector('[hx-trigger^=every]').dispatchEvent(new Event('every'))"
HIDE = "hidden => Object.defineProperty(document, 'hidden', {value: hidden, configurable: true})"
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"


def measure(world: World, accepted: int) -> None:
    """A window that the engine logged just now."""
    AcceptanceSampleFactory.create(
        replica=world.release.replicas.get(),
        timestamp_ns=time.time_ns(),
        accepted=accepted,
    )


def drawn(page: Page) -> str:
    """What the figures are of, once the charts stand."""
    expect(page.locator(".plot canvas")).to_have_count(page.locator(".plot").count())
    return str(page.get_attribute("[data-stamp]", "data-stamp"))


def test_figures_are_renewed_without_taking_focus_or_what_was_opened(
    browser: Browser, live_server: LiveServer
) -> None:
    world = World(f"renewed-{uuid.uuid4().hex[:8]}")
    measure(world, accepted=406)
    page = tab(browser, live_server, world.team, ("en", "light", 1440))
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"/deployments/{world.deployment.pk}/")
    before = drawn(page)
    page.get_by_text("Table of the same data").click()
    page.get_by_role("link", name="How it is judged").focus()
    at = page.evaluate("window.scrollY")
    measure(world, accepted=300)
    page.evaluate(POLL)
    expect(page.locator("[data-stamp]")).not_to_have_attribute("data-stamp", before)
    expect(page.locator(".figures")).to_contain_text("706 of")
    drawn(page)
    assert page.evaluate("document.activeElement.textContent") == "How it is judged"
    assert page.evaluate("window.scrollY") == at
    assert (
        page.locator("details", has_text="Table of the same data").get_attribute("open")
        is not None
    )
    page.evaluate(HIDE, arg=True)
    asked.clear()
    page.evaluate(POLL)
    assert asked == []
    page.evaluate(HIDE, arg=False)
    with page.expect_response(lambda answer: "v=" in answer.url) as answered:
        page.evaluate(LOOK)
    assert answered.value.status in {200, 204}
    one_moment_in_all_charts(page)
    drag_over_a_chart(page)
    page.context.close()


def one_moment_in_all_charts(page: Page) -> None:
    """Arrow keys move the crosshair of all charts alike, and its figures are said."""
    drawn(page)
    page.focus("[data-chart]")
    said = page.locator("[data-readout]")
    page.keyboard.press("End")
    expect(said).to_contain_text(":")
    last = said.text_content()
    page.keyboard.press("ArrowLeft")
    expect(said).not_to_have_text(str(last))
    places = "all => all.map(one => one.style.transform)"
    moved = page.locator(".plot .u-cursor-x").evaluate_all(places)
    assert len(moved) > 2
    assert len(set(moved)) == 1
    page.keyboard.press("Escape")
    expect(said).to_have_text("")


def drag_over_a_chart(page: Page) -> None:
    """The stretch becomes the range of the page, which its address then names."""
    drawn(page)
    place = page.locator(".plot .u-over").first.bounding_box()
    assert place is not None
    y = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + place["width"] * 0.25, y)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.75, y, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"[?&]from=\d+&to=\d+"))
    from_s, to_s = (int(number) for number in re.findall(r"=(\d{9,})", page.url))
    assert from_s < to_s
    drawn(page)
    source = page.locator("[data-chart]").get_attribute("data-chart")
    first_s, last_s = (int(number) for number in re.findall(r"=(\d{9,})", str(source)))
    assert first_s <= from_s < last_s < first_s + 86_400, "whole steps around it"

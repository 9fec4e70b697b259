"""On against off in the browser: the panel prepares the other arm, two people let it run, the page judges."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.engine_log import containers
from tests.e2e.panel import RunningPanel, wait_for
from tests.e2e.person import add_person, plan_practice, tab_of

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.slow]
WITHIN_MS = 150_000


def cancel_and_fail(page: Page, deployment: str) -> None:
    """A benchmark that somebody cancels, and one whose client finds no prompts."""
    page.goto(f"{deployment}benchmarks/")
    page.get_by_label("Requests at once").fill("1")
    page.get_by_label("Prompts per run").fill("5000")
    page.get_by_role("button", name="Begin to measure").click()
    jobs = page.locator("#benchmark-jobs")
    expect(jobs.get_by_text("Running", exact=True)).to_be_visible(timeout=WITHIN_MS)
    jobs.get_by_role("button", name="Cancel").click()
    expect(jobs.get_by_text("Cancelled", exact=True)).to_be_visible(timeout=WITHIN_MS)

    page.get_by_label("Prompts", exact=True).select_option("sharegpt")
    page.get_by_label("Path of ShareGPT").fill("/models/nowhere.json")
    page.get_by_label("Requests at once").fill("1")
    page.get_by_role("button", name="Begin to measure").click()
    expect(jobs.get_by_text("Failed", exact=True)).to_be_visible(timeout=WITHIN_MS)
    expect(jobs.get_by_text("left no result")).to_be_visible()


def test_a_pair_in_turn_is_judged_and_leaves_what_was_there(
    panel: RunningPanel, browser: Browser, docker_host: str, screens: Path
) -> None:
    alice = tab_of(browser, panel, add_person(panel, "alice", "operator"))
    bob = tab_of(browser, panel, add_person(panel, "bob", "approver"))

    def kept(name: str) -> None:
        alice.screenshot(path=screens / f"{name}.png", full_page=True)

    def approve(address: str) -> None:
        bob.goto(address)
        bob.get_by_role("button", name=re.compile("^Approve")).click()
        expect(bob.get_by_text("You approved this plan.")).to_be_visible()

    plan_practice(alice, panel, "Qwen3-32B", "pair")
    alice.get_by_role("button", name="Submit for approval").click()
    alice.wait_for_url("**/approvals/**")
    approve(alice.url)
    alice.reload()
    alice.get_by_role("button", name=re.compile("^Deploy")).click()
    alice.wait_for_url("**/releases/**")
    expect(alice.get_by_text("as planned", exact=True)).to_be_visible(timeout=WITHIN_MS)
    alice.get_by_role("link", name="pair", exact=True).first.click()
    alice.wait_for_url("**/deployments/**")
    deployment = alice.url.partition("?")[0]
    before = containers(docker_host, "pair")
    cancel_and_fail(alice, deployment)

    alice.goto(f"{deployment}benchmarks/")
    alice.get_by_label("What to measure").select_option("in-turn")
    alice.get_by_label("Requests at once").fill("1, 2")
    alice.get_by_label("Repeats").fill("2")
    alice.get_by_label("Prompts per run").fill("8")
    kept("pair-form")
    alice.get_by_role("button", name="Begin to measure").click()
    alice.wait_for_url("**/benchmarks/pairs/**")
    kept("pair-waits")
    request = alice.get_by_role(
        "link", name="The request for the run without speculation"
    )
    approve(f"{panel.address}{request.get_attribute('href')}")
    steps = alice.locator("#pair-steps")
    expect(steps.locator("[aria-current=step]")).to_contain_text(
        "Measure without speculation", timeout=WITHIN_MS
    )
    kept("pair-in-the-midst")
    panel.kill_worker()
    expect(steps.get_by_text("Done", exact=True)).to_be_visible(timeout=WITHIN_MS)
    expect(alice.locator(".verdict").first).to_be_visible()
    expect(alice.get_by_role("heading", name="Concurrency 2")).to_be_visible()
    kept("pair-judged")
    alice.set_viewport_size({"width": 390, "height": 844})
    kept("pair-judged-390")

    alice.goto(deployment)
    expect(alice.get_by_text("Live", exact=True).first).to_be_visible()
    wait_for("one container", lambda: len(containers(docker_host, "pair")) == 1)
    assert containers(docker_host, "pair") != before

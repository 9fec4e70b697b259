"""A worker is killed in the midst of a release and of a benchmark: both go on, each sample counts once."""

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.engine_log import Printed, containers, printed
from tests.e2e.panel import RunningPanel, wait_for
from tests.e2e.person import Person, add_person, plan_practice, tab_of

pytestmark = [pytest.mark.browser, pytest.mark.docker]

LIVE_WITHIN_MS = 90_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Everything the walks need: the panel, a browser, the engine, and people."""

    panel: RunningPanel
    browser: Browser
    docker_host: str
    alice: Person
    bob: Person

    def tab(self, person: Person) -> Page:
        """A tab in which the person is logged in."""
        return tab_of(self.browser, self.panel, person)


@pytest.fixture(scope="module")
def stage(panel: RunningPanel, browser: Browser, docker_host: str) -> Stage:
    """Alice operates, bob approves."""
    return Stage(
        panel=panel,
        browser=browser,
        docker_host=docker_host,
        alice=add_person(panel, "alice", "operator"),
        bob=add_person(panel, "bob", "approver"),
    )


def totals(page: Page, deployment: str) -> dict[str, int]:
    """Accepted and drafted tokens as the chart's own data says."""
    answer = page.request.get(f"{deployment}acceptance.json?range=1h")
    assert answer.ok
    sums = answer.json()["totals"]
    return {"accepted": sums["accepted"], "drafted": sums["drafted"]}


def not_doubled(counted: dict[str, int], said: Printed) -> bool:
    """Whether all that was printed is counted, and no window twice.

    A scrape may count what the engine drafted after its last line and before it was stopped, which
    is less than a window.
    """
    more = counted["drafted"] - said.drafted
    return 0 <= more < said.largest_window and (
        0 <= counted["accepted"] - said.accepted <= more
    )


def stop_release(page: Page) -> None:
    """Stop, confirm, and wait until the containers have stopped."""
    page.locator("summary", has_text="Stop").click()
    page.locator("details[open] form button").click()
    expect(page.get_by_text("Stopped", exact=True).first).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )


def measure(stage: Stage, page: Page, deployment: str) -> None:
    """Have the deployment measured, kill the worker meanwhile, and read the result."""
    page.goto(f"{deployment}benchmarks/")
    page.get_by_label("Requests at once").fill("2")
    page.get_by_label("Repeats").fill("1")
    page.get_by_label("Prompts per run").fill("16")
    page.get_by_role("button", name="Begin to measure").click()
    jobs = page.locator("#benchmark-jobs")
    expect(jobs.get_by_text("0 of 1")).to_be_visible()
    expect(jobs.get_by_text("Running", exact=True)).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )
    stage.panel.kill_worker()
    jobs.get_by_role("link", name="Show", exact=True).click(timeout=LIVE_WITHIN_MS)
    expect(page.get_by_role("heading", name="Concurrency 2")).to_be_visible()
    expect(
        page.get_by_role("row", name=re.compile("^Mean acceptance length"))
    ).to_be_visible()


def test_a_killed_worker_leaves_no_trace(stage: Stage) -> None:
    docker_host = stage.docker_host
    page = stage.tab(stage.alice)
    plan_practice(page, stage.panel, "Qwen3-32B", "second")
    page.get_by_role("button", name="Submit for approval").click()
    page.wait_for_url("**/approvals/**")
    theirs = stage.tab(stage.bob)
    theirs.goto(page.url)
    theirs.get_by_role("button", name=re.compile("^Approve")).click()
    expect(theirs.get_by_text("You approved this plan.")).to_be_visible()

    page.reload()
    page.get_by_role("button", name=re.compile("^Deploy")).click()
    page.wait_for_url("**/releases/**")
    wait_for("a container", lambda: containers(docker_host, "second"))
    stage.panel.kill_worker()

    expect(page.get_by_text("as planned", exact=True)).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )
    (container,) = containers(docker_host, "second")
    wait_for("a window", lambda: printed(docker_host, container).lines > 0)
    release = page.url
    page.get_by_role("link", name="second", exact=True).first.click()
    page.wait_for_url("**/deployments/**")
    deployment = page.url.partition("?")[0]
    measure(stage, page, deployment)
    lines = printed(docker_host, container).lines
    # Until then counters are ahead of the lines by more than any window that was printed.
    wait_for(
        "the window of the benchmark",
        lambda: printed(docker_host, container).lines > lines,
    )
    page.goto(release)
    stop_release(page)
    said = printed(docker_host, container)
    wait_for(
        "every printed window, each once",
        lambda: not_doubled(totals(page, deployment), said),
    )
    counted = totals(page, deployment)
    page.goto(f"{deployment}?range=1h")
    sums = page.get_by_role("definition")
    expect(
        sums.filter(has_text=f"{counted['accepted']:,} tokens").first
    ).to_be_visible()
    expect(sums.filter(has_text=f"{counted['drafted']:,} tokens").first).to_be_visible()

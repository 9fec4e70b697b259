"""Choose, submit, approve as a second person, deploy, live, chart, stop: for real."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.engine_log import containers, printed
from tests.e2e.panel import RunningPanel, wait_for
from tests.e2e.person import Person, add_person, plan_practice, tab_of

pytestmark = [pytest.mark.browser, pytest.mark.docker]

LIVE_WITHIN_MS = 90_000
WINDOWS = 2


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


def ask_for_another_person(page: Page, panel: RunningPanel) -> None:
    """Tighten the policy of the local cluster, as its administrator."""
    page.goto(f"{panel.address}/fleet/")
    page.get_by_role("link", name="local", exact=True).first.click()
    page.locator("[name=requires_other_approver]").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The policy is changed")).to_be_visible()


def totals(page: Page, deployment: str) -> dict[str, int]:
    """Accepted and drafted tokens as the chart's own data says."""
    answer = page.request.get(f"{deployment}acceptance.json?range=1h")
    assert answer.ok
    sums = answer.json()["totals"]
    return {"accepted": sums["accepted"], "drafted": sums["drafted"]}


def test_a_model_becomes_a_watched_deployment(
    stage: Stage, admin: Person, screens: Path
) -> None:
    docker_host = stage.docker_host
    ask_for_another_person(stage.tab(admin), stage.panel)
    page = stage.tab(stage.alice)

    plan_practice(page, stage.panel, "Qwen3-8B", "first")
    expect(page.get_by_text("practice").first).to_be_visible()
    page.screenshot(path=screens / "review.png", full_page=True)
    page.get_by_role("button", name="Submit for approval").click()
    page.wait_for_url("**/approvals/**")
    request = page.url
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)

    theirs = stage.tab(stage.bob)
    theirs.goto(request)
    theirs.screenshot(path=screens / "approval.png", full_page=True)
    theirs.get_by_role("button", name=re.compile("^Approve")).click()
    expect(theirs.get_by_text("You approved this plan.")).to_be_visible()
    expect(theirs.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)

    page.goto(request)
    page.get_by_role("button", name=re.compile("^Deploy")).click()
    page.wait_for_url("**/releases/**")
    release = page.url
    expect(page.get_by_text("answers requests").first).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )
    expect(page.get_by_text("as planned", exact=True)).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )
    page.screenshot(path=screens / "release.png", full_page=True)

    page.get_by_role("link", name="first", exact=True).first.click()
    page.wait_for_url("**/deployments/**")
    deployment = page.url.partition("?")[0]
    (container,) = containers(docker_host, "first")
    wait_for(
        "two windows of acceptance",
        lambda: printed(docker_host, container).lines >= WINDOWS,
    )

    page.goto(release)
    stop_release(page)
    said = printed(docker_host, container)
    wait_for(
        "every printed window in the chart",
        lambda: totals(page, deployment)["drafted"] == said.drafted,
    )
    assert totals(page, deployment)["accepted"] == said.accepted
    page.goto(f"{deployment}?range=1h")
    sums = page.get_by_role("definition")
    expect(sums.filter(has_text=f"{said.accepted:,} tokens").first).to_be_visible()
    expect(sums.filter(has_text=f"{said.drafted:,} tokens").first).to_be_visible()
    expect(page.locator(".u-over, canvas").first).to_be_visible()
    page.screenshot(path=screens / "acceptance.png", full_page=True)


def stop_release(page: Page) -> None:
    """Stop, confirm, and wait until the containers have stopped."""
    page.locator("summary", has_text="Stop").click()
    page.locator("details[open] form button").click()
    expect(page.get_by_text("Stopped", exact=True).first).to_be_visible(
        timeout=LIVE_WITHIN_MS
    )


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
    stop_release(page)
    said = printed(docker_host, container)
    page.get_by_role("link", name="second", exact=True).first.click()
    page.wait_for_url("**/deployments/**")
    deployment = page.url.partition("?")[0]
    wait_for(
        "every printed window, each once",
        lambda: (
            totals(page, deployment)
            == {"accepted": said.accepted, "drafted": said.drafted}
        ),
    )

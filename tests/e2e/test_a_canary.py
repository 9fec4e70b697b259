"""The loop in the browser: history, a proposal, a canary beside the others, and back or for all."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.engine_log import remove_containers
from tests.e2e.herd import add_second_host, drafted, plan_apart
from tests.e2e.panel import RunningPanel, free_port, wait_for
from tests.e2e.person import add_person, log_in, tab_of

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.slow]
WITHIN_MS = 150_000
WITHIN_S = 300.0
NAME = "herd"
TRAFFIC = (
    "PRACTICE_TRAFFIC=6\nPRACTICE_ACCEPTANCE=0.9,0.7,0.05,0.05,0.05\n"
    "VLLM_LOG_STATS_INTERVAL=2"
)
PLANNED, TRIED = 5, 2
LOOK_NOW = """
from deployments.models import ApprovalRequest, ProposalSchedule
from deployments.services.proposal_schedules import propose_due

ProposalSchedule.objects.update(looked_at=None)
propose_due()
made = ApprovalRequest.objects.filter(comment__startswith="Proposed by the panel")
print("made", made.count(), "votes", sum(one.approvals.count() for one in made))
"""


@dataclass(kw_only=True)
class Loop:
    """The deployment, and who acts on it."""

    panel: RunningPanel
    olga: Page
    abel: Page
    hosts: tuple[str, str]
    screens: Path
    deployment: str = ""

    @property
    def counts(self) -> tuple[int | None, int | None]:
        """What the two decode engines draft, by their own commands; ``None`` where one does not run."""
        found = drafted(self.hosts, NAME)
        return found.get("decode 0"), found.get("decode 1")

    def kept(self, name: str) -> None:
        """Keep a picture of olga's page."""
        self.olga.screenshot(path=self.screens / f"canary-{name}.png", full_page=True)

    def approve(self, address: str) -> None:
        """Abel says yes."""
        self.abel.goto(address)
        self.abel.get_by_role("button", name=re.compile("^Approve")).click()
        expect(self.abel.get_by_text("You approved this plan.")).to_be_visible()

    def deploy(self, request: str) -> None:
        """Abel approves, olga deploys, and all three engines prove what they draft."""
        self.approve(request)
        self.olga.goto(request)
        self.olga.get_by_role("button", name=re.compile("^Deploy")).click()
        self.olga.wait_for_url("**/releases/**")
        self.proven()

    def proven(self) -> None:
        """Wait for the proof of the release on olga's page."""
        proof = self.olga.get_by_text("as planned", exact=True)
        expect(proof).to_have_count(3, timeout=WITHIN_MS)

    def seen(self, what: Locator, within_s: float = WITHIN_S) -> None:
        """Open what to change next again and again until something is there."""

        def look() -> bool:
            self.olga.goto(f"{self.deployment}advice/")
            return what.count() > 0

        wait_for(str(what), look, within_s)


@pytest.fixture
def loop(
    panel: RunningPanel, browser: Browser, docker_host: str, screens: Path
) -> Iterator[Loop]:
    """A live deployment with two engines that write replies, on two hosts."""
    engines = os.environ.get("DOCKER_HOSTS", "").split()
    if len(engines) < 2 or engines[-1] == docker_host:
        pytest.fail("DOCKER_HOSTS names no second engine: run `make slow`.")
    made = Loop(
        panel=panel,
        olga=tab_of(browser, panel, add_person(panel, "olga", "operator")),
        abel=tab_of(browser, panel, add_person(panel, "abel", "approver")),
        hosts=(docker_host, engines[-1]),
        screens=screens,
    )
    port = free_port()
    add_second_host(panel, engines[-1], port)
    plan_apart(made.olga, panel, NAME, port, TRAFFIC)
    made.olga.get_by_role("button", name="Submit for approval").click()
    made.olga.wait_for_url("**/approvals/**")
    made.deploy(made.olga.url)
    made.olga.get_by_role("link", name=NAME, exact=True).first.click()
    made.olga.wait_for_url("**/deployments/**")
    made.deployment = made.olga.url.partition("?")[0]
    yield made
    remove_containers(engines[-1])


def allow_the_panel(loop: Loop, browser: Browser) -> str:
    """An admin lets the panel propose; its next look makes one request, and nothing starts.

    Returns the address of the request.
    """
    iris = tab_of(
        browser, loop.panel, add_person(loop.panel, "iris", "admin", "operator")
    )
    iris.goto(f"{loop.deployment}advice/")
    iris.get_by_label("Look").select_option("1")
    iris.get_by_role("button", name="Save").click()
    expect(iris.get_by_text("The panel proposes changes by itself.")).to_be_visible()
    for _ in range(2):
        assert "made 1 votes 0" in loop.panel.manage("shell", "-c", LOOK_NOW)
    iris.reload()
    iris.screenshot(path=loop.screens / "canary-schedule.png", full_page=True)
    iris.get_by_role("link", name="Its newest request").click()
    iris.wait_for_url("**/approvals/**")
    expect(iris.get_by_text("Waiting for a decision").first).to_be_visible()
    assert not iris.get_by_role("button", name=re.compile("^Approve")).count()
    assert loop.counts == (PLANNED, PLANNED)
    address = iris.url
    iris.context.close()
    return address


def measure(loop: Loop) -> None:
    """A benchmark through the router, whose prompts both hosts answer."""
    page = loop.olga
    page.goto(f"{loop.deployment}benchmarks/")
    page.get_by_label("Requests at once").fill("2")
    page.get_by_label("Repeats").fill("1")
    page.get_by_label("Prompts per run").fill("40")
    page.get_by_role("button", name="Begin to measure").click()
    jobs = page.locator("#benchmark-jobs")
    jobs.get_by_role("link", name="Show", exact=True).click(timeout=WITHIN_MS)
    expect(page.get_by_role("heading", name="Concurrency 2")).to_be_visible()
    # The router has no counters: it is what both engines printed meanwhile.
    length = page.get_by_role("row", name=re.compile("^Mean acceptance length"))
    expect(length).to_be_visible()
    loop.kept("benchmark-through-router")


def look_on_a_phone(loop: Loop, browser: Browser) -> None:
    """The canary beside the others in Chinese, dark, on a phone."""
    mei = add_person(loop.panel, "mei", "operator")
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        is_mobile=True,
        has_touch=True,
        color_scheme="dark",
    )
    page = log_in(context.new_page(), loop.panel, mei)
    page.goto(f"{loop.deployment}advice/")
    page.locator("button[lang=zh-hans]").first.tap()
    expect(page.locator("html")).to_have_attribute(
        "lang", re.compile("^zh-hans$", re.IGNORECASE)
    )
    expect(page.locator("#canary .verdict")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=loop.screens / "canary-zh-phone-dark.png", full_page=True)
    context.close()


def test_a_canary_is_rolled_back_and_another_promoted(
    loop: Loop, browser: Browser
) -> None:
    page = loop.olga
    canary = page.locator(
        "#canary .verdict", has_text=re.compile("promote it|roll it back|No difference")
    )
    proposal = page.get_by_role("button", name="Propose this as a canary")
    assert loop.counts == (PLANNED, PLANNED)
    measure(loop)
    loop.seen(proposal)
    loop.kept("proposed")

    loop.deploy(allow_the_panel(loop, browser))
    expect(page.get_by_text("· canary ·")).to_be_visible()
    loop.kept("released")
    assert loop.counts == (PLANNED, TRIED)
    loop.seen(canary)
    loop.kept("compared")
    look_on_a_phone(loop, browser)
    page.locator("#canary summary", has_text="Roll back").click()
    page.locator("#canary details[open] form button").click()
    page.wait_for_url("**/releases/**")
    loop.proven()
    assert loop.counts == (PLANNED, PLANNED)
    assert "made 1 votes 1" in loop.panel.manage("shell", "-c", LOOK_NOW)

    loop.seen(proposal)
    proposal.click()
    page.wait_for_url("**/approvals/**")
    loop.kept("request")
    loop.deploy(page.url)
    assert loop.counts == (PLANNED, TRIED)
    loop.seen(canary)
    page.get_by_role("button", name="Promote").click()
    page.wait_for_url("**/approvals/**")
    assert loop.counts == (PLANNED, TRIED)
    loop.kept("promotion")
    loop.deploy(page.url)
    assert loop.counts == (TRIED, TRIED)
    loop.seen(page.get_by_text("Live", exact=True))
    expect(page.locator("#canary")).to_have_count(0)
    loop.kept("promoted")

"""Choose, approve, deploy, watch: as people walk them, in both languages, on desktop and phone.

Every journey is walked once for each look, whatever order the tests run in: a journey first walks
those that it builds on. The Chinese walks put a second revision in place of the English ones'.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.panel import RunningPanel, free_port, wait_for
from tests.e2e.person import Person, add_person
from tests.e2e.walk import Look, Walk

pytestmark = [pytest.mark.browser, pytest.mark.docker]

ENGLISH, CHINESE = "en", "zh-hans"
LOOKS = (
    Look(language=ENGLISH, size="desktop", theme="light"),
    Look(language=CHINESE, size="desktop", theme="dark"),
    Look(language=ENGLISH, size="phone", theme="dark"),
    Look(language=CHINESE, size="phone", theme="light"),
)
STEPS = ("Hardware", "Workload", "Method", "Details", "Review")
LIVE_WITHIN_MS = 90_000
FEW_PRESSES = 5
BACK = "document.dispatchEvent(new Event('visibilitychange'))"
"""What a browser says when somebody comes back to a tab, which then renews itself."""


class Journeys:
    """Two people for each look, what each journey left behind, and which were walked."""

    def __init__(
        self, panel: RunningPanel, browser: Browser, screens: Path, admin: Person
    ) -> None:
        self.panel, self.browser, self.screens = panel, browser, screens
        self.ports = {"desktop": free_port(), "phone": free_port()}
        self.operator = add_person(panel, "ada", "operator")
        self.approver = add_person(panel, "ben", "approver")
        self._walks: dict[tuple[Look, str], Walk] = {}
        self._walked: dict[tuple[str, Look], AssertionError | None] = {}
        self.requests: dict[Look, str] = {}
        self.releases: dict[Look, str] = {}
        walk = Walk(browser, panel, LOOKS[0], screens)
        walk.log_in(admin)
        ask_for_another_person(walk)
        walk.close()

    def of(self, look: Look, person: Person) -> Walk:
        """The person's tab in this look, logged in."""
        walk = self._walks.get((look, person.name))
        if walk is None:
            walk = Walk(self.browser, self.panel, look, self.screens)
            self._walks[look, person.name] = walk
            walk.log_in(person)
        return walk

    def reach(self, journey: str, look: Look) -> None:
        """Walk a journey, and before it those that it builds on; each only once."""
        if (journey, look) not in self._walked:
            for other in _before(journey, look):
                self.reach(*other)
            self._walked[journey, look] = AssertionError(f"{journey} went wrong before")
            JOURNEYS[journey](self, look)
            self._walked[journey, look] = None
        failed = self._walked[journey, look]
        if failed is not None:
            raise failed

    def close(self) -> None:
        """Close every tab."""
        for walk in self._walks.values():
            walk.close()


def _before(journey: str, look: Look) -> Iterator[tuple[str, Look]]:
    names = list(JOURNEYS)
    place = names.index(journey)
    if place:
        yield names[place - 1], look
    elif look.language == CHINESE:
        (english,) = (
            one for one in LOOKS if one.size == look.size and one.language == ENGLISH
        )
        yield names[-1], english


def ask_for_another_person(walk: Walk) -> None:
    """Tighten the policy of the local cluster, as its administrator."""
    page = walk.page
    page.goto("/fleet/")
    page.get_by_role("link", name="local", exact=True).first.click()
    page.locator("[name=requires_other_approver]").check()
    walk.press(walk.button("Save"))
    expect(page.get_by_text("The policy is changed")).to_be_visible()


def choose(journeys: Journeys, look: Look) -> None:
    """From the navigation through the six steps to a request that waits for a decision."""
    walk = journeys.of(look, journeys.operator)
    page = walk.page

    def continue_to(step: str) -> None:
        title = walk.say(step).lower()
        walk.press(walk.button("Continue to %(next_title)s", next_title=title))
        page.wait_for_url(f"**step={step.lower()}**")

    walk.go("/plan/", "p")
    page.locator("#id_q").press_sequentially("qwen3-8", delay=10)
    expect(page.locator("#wizard-models tbody tr")).to_have_count(1)
    walk.press(page.get_by_role("link", name="Qwen3-8B", exact=True))
    page.wait_for_url("**model=**")
    walk.shot("choose", "model")
    continue_to("Hardware")
    walk.press(page.locator("#id_cluster a").first)
    page.wait_for_url("**cluster=**")
    walk.press(page.locator("#host-local"))
    page.wait_for_url("**host=local**")
    walk.press(page.get_by_label(walk.say("The practice image")))
    page.wait_for_url("**image_source=practice**")
    walk.shot("choose", "hardware")
    continue_to("Workload")
    walk.press(page.locator("#preset-code"))
    page.wait_for_url("**preset=code**")
    walk.shot("choose", "workload")
    continue_to("Method")
    if look.language == CHINESE:
        walk.press(page.locator("#method-ngram"))
        page.wait_for_url("**method=ngram**")
    walk.shot("choose", "method")
    continue_to("Details")
    page.locator("#id_name").fill(look.size)
    page.locator("#id_combined_port").fill(str(journeys.ports[look.size]))
    page.wait_for_url(f"**combined_port={journeys.ports[look.size]}**")
    walk.shot("choose", "details")
    continue_to("Review")
    submit = walk.button("Submit for approval")
    expect(submit).to_be_in_viewport(ratio=1)
    expect(page.locator(".verdict")).to_contain_text(look.size)
    walk.shot("choose", "review")
    page.locator(".decide [name=comment]").fill(f"{look}: faster answers")
    walk.press(submit)
    page.wait_for_url("**/approvals/**")
    journeys.requests[look] = page.url
    for act in ("Approve r%(number)s", "Deploy r%(number)s"):
        number = 2 if look.language == CHINESE else 1
        assert not walk.button(act, number=number).count()
    walk.shot("choose", "submitted")


def approve(journeys: Journeys, look: Look) -> None:
    """From the overview to a decision in fewer than five clicks, on a desktop once by keys alone."""
    walk = journeys.of(look, journeys.approver)
    page = walk.page
    page.goto("/")
    walk.shot("approve", "overview")
    walk.presses = 0
    address = journeys.requests[look].removeprefix(journeys.panel.address)
    if look.language == CHINESE and not look.phone:
        walk.go("/approvals/", "a")
        page.locator(f"main a[href='{address}']").first.focus()
        page.keyboard.press("Enter")
    else:
        walk.press(page.locator(f"main a[href='{address}']").first)
    page.wait_for_url(f"**{address}")
    number = 2 if look.language == CHINESE else 1
    decide = walk.button("Approve r%(number)s", number=number)
    expect(decide).to_be_in_viewport(ratio=1)
    expect(page.locator("main")).to_contain_text(f"{look}: faster answers")
    if number > 1:
        changed = page.locator(".table.diff").first
        expect(changed).to_contain_text("ngram")
    walk.shot("approve", "request")
    if look.language == CHINESE and not look.phone:
        page.locator(".decide [name=comment]").focus()
        page.keyboard.type("好")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(decide).to_be_focused()
        page.keyboard.press("Enter")
    else:
        walk.press(decide)
    expect(page.get_by_text(walk.say("You approved this plan."))).to_be_visible()
    assert walk.presses < FEW_PRESSES
    assert not walk.button("Deploy r%(number)s", number=number).count()
    walk.shot("approve", "approved")


def deploy(journeys: Journeys, look: Look) -> None:
    """One press; then the page follows by itself until the log proves what was planned."""
    walk = journeys.of(look, journeys.operator)
    page = walk.page
    page.goto(journeys.requests[look])
    number = 2 if look.language == CHINESE else 1
    press = walk.button("Deploy r%(number)s", number=number)
    expect(press).to_be_in_viewport(ratio=1)
    walk.shot("deploy", "approved")
    walk.press(press)
    page.wait_for_url("**/releases/**")
    journeys.releases[look] = page.url
    lines = page.locator(".small-log")
    expect(lines).to_contain_text("pid=", timeout=LIVE_WITHIN_MS)
    log, journal = lines.bounding_box(), page.locator("#h-journal").bounding_box()
    assert log is not None
    assert journal is not None
    assert log["y"] < journal["y"]
    walk.shot("deploy", "starting")
    for said in ("answers requests", "as planned"):
        told = page.get_by_text(walk.say(said), exact=said == "as planned").first
        expect(told).to_be_visible(timeout=LIVE_WITHIN_MS)
    watch_it = page.get_by_role("link", name=walk.say("Watch what is accepted"))
    expect(watch_it).to_be_visible()
    walk.shot("deploy", "live")


def watch(journeys: Journeys, look: Look) -> None:
    """From the release to what was accepted, its log, and at last the end."""
    walk = journeys.of(look, journeys.operator)
    page = walk.page
    page.goto(journeys.releases[look])
    walk.press(page.get_by_role("link", name=walk.say("Watch what is accepted")))
    page.wait_for_url("**/deployments/**")
    data = f"{page.url.partition('?')[0]}acceptance.json?range=1h"

    def drafted() -> int:
        total: int = page.request.get(data).json()["totals"]["drafted"]
        return total

    before = drafted() if look.language == CHINESE else 0
    wait_for("a new window of acceptance", lambda: drafted() > before)
    page.evaluate(BACK)
    expect(page.locator(".table.bars tbody tr").first).to_be_visible()
    expect(page.locator(".u-over").first).to_be_visible()
    expect(page.locator("#h-advice")).to_be_visible()
    table = page.locator("details.fold summary").last
    walk.press(table)
    expect(page.locator("details[open] table").last).to_be_visible()
    walk.shot("watch", "acceptance")
    walk.press(page.get_by_role("link", name=walk.say("Logs"), exact=True))
    expect(page.locator(".log__chip").first).to_be_visible(timeout=LIVE_WITHIN_MS)
    walk.shot("watch", "log")
    if look == LOOKS[0]:
        read_log(walk)
    if look.language == CHINESE:
        page.goto(journeys.releases[look])
        walk.press(page.locator(".confirm summary.danger"))
        walk.press(page.locator(".confirm[open] button"))
        stopped = page.locator(".facts").get_by_text(walk.say("Stopped"), exact=True)
        expect(stopped).to_be_visible(timeout=LIVE_WITHIN_MS)
        walk.shot("watch", "stopped")


def read_log(walk: Walk) -> None:
    """The log of a real container: it follows, tells values, is searched and kept as a file."""
    page = walk.page
    log = page.locator(".log")
    expect(log).to_contain_text("Initializing a V1 LLM engine")
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    seen = page.locator(".log__line").count()
    expect(page.locator(".log__line").nth(seen)).to_be_visible(timeout=LIVE_WITHIN_MS)
    page.locator(".log__chip").first.hover()
    expect(page.locator(".log__tip").first).to_contain_text("acceptance rate")
    page.locator("#id_q").fill(r"accepted: \d+ tokens")
    walk.press(walk.button("Apply"))
    found = re.compile(r"^Accepted: \d+ tokens$")
    expect(page.locator("mark").first).to_have_text(found)
    with page.expect_download() as saved:
        walk.press(page.get_by_role("link", name="Download"))
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert saved.value.suggested_filename == "desktop.log.txt"
    assert "SpecDecoding metrics" in text
    assert "Initializing" not in text


JOURNEYS: dict[str, Callable[[Journeys, Look], None]] = {
    "choose": choose,
    "approve": approve,
    "deploy": deploy,
    "watch": watch,
}


@pytest.fixture(scope="module")
def journeys(
    panel: RunningPanel, browser: Browser, screens: Path, admin: Person
) -> Iterator[Journeys]:
    """Ada operates, Ben approves."""
    folder = screens / "journeys"
    folder.mkdir(exist_ok=True)
    made = Journeys(panel, browser, folder, admin)
    yield made
    made.close()


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_journey_is_walked(journeys: Journeys, journey: str, look: Look) -> None:
    journeys.reach(journey, look)

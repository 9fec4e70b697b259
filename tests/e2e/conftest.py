"""A real panel, a real Docker Engine and a real browser for each test of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from xdist.scheduler import LoadFileScheduling

from tests.e2e.engine_log import remove_containers
from tests.e2e.full_panel import FullPanel, full_panel
from tests.e2e.panel import RunningPanel
from tests.e2e.person import Person, choose_password
from tests.environment.migrated import migrated_copy

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 20_000
TOGETHER = {"test_the_loop": "test_journeys"}
"""Both walk on one panel and its engine."""


LONGEST_FIRST = ("test_journeys", "test_the_loop", "test_every_page", "test_keyboard")
"""What takes longest begins first, or one worker would walk alone at the end."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first; the order within a file stays."""

    def place(item: pytest.Item) -> int:
        file = item.path.stem
        return (
            LONGEST_FIRST.index(file) if file in LONGEST_FIRST else len(LONGEST_FIRST)
        )

    items.sort(key=place)


class ByPanel(LoadFileScheduling):  # type: ignore[misc]
    """A file is a worker's; files that need the same panel go to the same worker."""

    def _split_scope(self, nodeid: str) -> str:
        file = Path(nodeid.partition("::")[0]).stem
        return TOGETHER.get(file, file)


def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Any
) -> LoadFileScheduling | None:
    """Give the tests out by panel when a run asks for whole files."""
    by_file = config.getoption("dist") == "loadfile"
    return ByPanel(config, log) if by_file else None


@pytest.fixture(scope="session")
def screens(repository: Path) -> Path:
    """Where screenshots are kept for people to look at."""
    folder = repository / "test-results" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def panel(
    docker_host: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningPanel]:
    """The panel of ``make run``, with the practice image on its engine."""
    remove_containers(docker_host)
    running = RunningPanel(tmp_path_factory.mktemp("lab"))
    if not migrated_copy(running.directory / "draftboard.sqlite3"):
        running.manage("migrate", "--verbosity", "0")
    running.manage("build_practice_image")
    running.start()
    yield running
    assert running.stop() == 0
    remove_containers(docker_host)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FullPanel]:
    """A panel with many rows and neither Docker nor workers."""
    with full_panel(tmp_path_factory.mktemp("full")) as panel:
        yield panel


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, without a window; one for all tests, since two event loops do not go together.

    Playwright keeps its loop alive in this thread, and Django's ORM would refuse to work beside
    it; that is allowed in this folder, which runs in a process of its own.
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program, args=CHROMIUM_ARGUMENTS
        )
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own for each test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """One tab."""
    return context.new_page()


@pytest.fixture(scope="session")
def admin(panel: RunningPanel, browser: Browser) -> Person:
    """Whoever ``make run`` made, with a password of their own."""
    printed = Person(name="admin", password=panel.password)
    return choose_password(browser, panel, printed)

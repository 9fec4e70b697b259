"""No page is heavy, late or restless: what Chromium transfers, when it paints, what moves."""

import pytest
from playwright.sync_api import Browser

from benchmarks.page_weight import (
    LARGEST_BYTES,
    LARGEST_SHIFT,
    LATEST_PAINT_MS,
    PATHS,
    weigh,
)
from tests.e2e.full_panel import FullPanel

pytestmark = pytest.mark.browser
ROWS = (
    "deployment",
    "configuration",
    "history",
    "logs",
    "approval",
    "release",
    "moving",
    "host",
    "cluster",
    "model",
)


@pytest.mark.parametrize("name", [*PATHS, *ROWS])
def test_page_keeps_its_budget(filled: FullPanel, browser: Browser, name: str) -> None:
    path = filled.rows.get(name, name)
    weight = weigh(browser, filled.address, path, filled.session, times=1)
    assert weight.transferred_bytes <= LARGEST_BYTES, weight
    assert weight.first_paint_ms < LATEST_PAINT_MS, weight
    assert weight.shift <= LARGEST_SHIFT, weight

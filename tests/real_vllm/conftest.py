"""A panel whose engine has the image of a real vLLM, and whose catalog has the tiny models."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from practice.vllm_cpu.install import MODELS
from tests.e2e.conftest import browser
from tests.e2e.engine_log import remove_containers
from tests.e2e.panel import RunningPanel
from tests.e2e.person import Person, choose_password, tab_of
from tests.real_vllm.stage import Stage

__all__ = ["browser"]

collect_ignore_glob = [] if os.environ.get("E2E_VLLM") == "1" else ["test_*.py"]

DRAFTERS = {"draft": "draft_model", "eagle3": "eagle3"}
"""Directory of each drafter for ``target``, and how it drafts."""


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny models at a place of their own."""
    place = tmp_path_factory.mktemp("weights") / "models"
    shutil.copytree(MODELS, place)
    return place


@pytest.fixture(scope="session")
def stage(
    docker_host: str,
    models: Path,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    """One panel for all tests: image built, models imported, one tab of its administrator."""
    panel = RunningPanel(tmp_path_factory.mktemp("lab"))
    panel.manage("migrate", "--verbosity", "0")
    panel.start()
    try:
        panel.manage("build_vllm_image")
        admin = choose_password(
            browser, panel, Person(name="admin", password=panel.password)
        )
        page = tab_of(browser, panel, admin)
        page.goto(f"{panel.address}/fleet/")
        page.get_by_role("link", name="local", exact=True).first.click()
        page.locator("[name=model_roots]").fill(str(models))
        page.get_by_role("button", name="Save").first.click()
        expect(page.get_by_text("The policy is changed")).to_be_visible()
        cluster = page.url.rstrip("/").rpartition("/")[2]
        _import_models(panel, models)
        yield Stage(panel=panel, page=page, docker_host=docker_host, cluster=cluster)
    finally:
        panel.stop()
        remove_containers(docker_host)


def _import_models(panel: RunningPanel, models: Path) -> None:
    common = ("--host", "local", "--person", "admin")
    for name in ("target", "mtp"):
        naming = ("--family", "tiny", "--repository", f"tiny/{name}")
        panel.manage("import_model", str(models / name), *common, *naming)
    for name, method in DRAFTERS.items():
        panel.manage(
            "import_model",
            str(models / name),
            *common,
            *("--drafts-for", "target", "--method", method),
            *("--num-speculative-tokens", "3"),
        )

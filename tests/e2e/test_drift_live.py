"""Drift and its ways out in a real browser: nothing to fault for axe, nothing too wide, in both languages."""

import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from deployments.models import DriftKind, Host, Release, ReleaseState, Replica
from deployments.planning.text import text
from deployments.services.drift import RESTORE_OR_ALLOW
from tests.e2e.test_every_page import LOOKS, tab
from tests.factories import DeploymentFactory
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.world import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: "-".join(map(str, look)))
def test_what_drifted_reads_well(
    browser: Browser, live_server: LiveServer, look: tuple[str, str, int]
) -> None:
    world = World("own")
    Host.objects.update(strangers=[{"name": "chat-r1-by-hand", "state": "running"}])
    deployment = DeploymentFactory.create(cluster=world.cluster, name="chat")
    first, second = (plan_value(number=number) for number in (1, 2))
    released(stored(deployment, first), first, number=1)
    Release.objects.filter(deployment=deployment).update(state=ReleaseState.STOPPED)
    release = released(stored(deployment, second), second, number=2)
    Replica.objects.filter(release=release).update(
        drift=DriftKind.CHANGED,
        drift_text=text(
            "{name} on {host} was changed outside the panel: {changes}.",
            name="chat-r2-combined-0",
            host="gpu-1",
            changes=text("{setting} is {now}", setting="RestartPolicy", now="always"),
        ),
        drift_action=RESTORE_OR_ALLOW,
        drift_since=timezone.now(),
    )
    replica = Replica.objects.get(release=release)
    page = tab(browser, live_server, world.team, look)
    pages = {
        "overview": "/",
        "deployment": f"/deployments/{deployment.pk}/",
        "history": f"/deployments/{deployment.pk}/releases/",
        "release": f"/releases/{release.pk}/",
        "host": f"/fleet/hosts/{replica.host_id}/",
        "emergency": f"/deployments/{deployment.pk}/emergency-stop/",
    }
    for name, path in pages.items():
        page.goto(path)
        for fold in page.locator("details.confirm > summary").all():
            fold.click()
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], name
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, name
        kept = os.environ.get("KEPT_PICTURES")
        if kept:
            page.screenshot(
                path=Path(kept) / f"drift-{name}-{look[2]}.png", full_page=True
            )

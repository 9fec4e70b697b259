"""A panel full of rows without Docker, for browser tests of its lists.

``python -m tests.e2e.full_panel`` fills the database of the environment and prints, as JSON, a
session and the addresses of some rows.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command
from playwright.sync_api import BrowserContext

from tests.environment.migrated import migrated_copy

TOP = Path(__file__).resolve().parent.parent.parent
HOSTS, DEPLOYMENTS, PEOPLE = 24, 120, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FullPanel:
    """Where it is, the session of somebody who may do everything, and pages of single rows."""

    address: str
    session: str
    rows: dict[str, str]

    def log_in(self, context: BrowserContext) -> None:
        """Let a browser profile be that somebody."""
        context.add_cookies(
            [{"name": "draftboard-session", "value": self.session, "url": self.address}]
        )


@contextmanager
def full_panel(directory: Path) -> Iterator[FullPanel]:
    """Fill a database of its own and serve it."""
    from benchmarks.served import KEY, WITHOUT_OTHER_PARTS, web_server  # noqa: PLC0415

    environment = {
        **os.environ,
        **WITHOUT_OTHER_PARTS,
        "SECRET_KEY": KEY,
        "DATABASE_URL": f"sqlite:///{directory / 'full.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "panel.settings",
    }
    migrated_copy(directory / "full.sqlite3")
    filled = subprocess.run(
        [sys.executable, "-m", "tests.e2e.full_panel"],
        cwd=TOP,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(filled.stdout)
    with web_server(directory, environment) as address:
        yield FullPanel(address=address, **told)


def fill() -> dict[str, object]:
    """Make tables, static files and rows; a session of the first person, and the addresses of one row of each kind."""
    from benchmarks.page_rows import add_deployments, fill_panel  # noqa: PLC0415
    from benchmarks.served import session_of  # noqa: PLC0415
    from deployments.models import (  # noqa: PLC0415
        ApprovalRequest,
        Deployment,
        Release,
        ReleaseState,
        RequestState,
        TargetModel,
    )

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    call_command("load_catalog", stdout=io.StringIO())
    call_command("collectstatic", interactive=False, verbosity=0)
    panel = fill_panel(hosts=HOSTS, people=PEOPLE)
    add_deployments(panel, range(DEPLOYMENTS))
    # The last by name, so that what moves is never among the rows that tests walk over.
    live = Release.objects.filter(state=ReleaseState.LIVE).order_by("-deployment__name")
    release = live[0]
    moving = live[1]
    Release.objects.filter(pk=moving.pk).update(state=ReleaseState.STARTING)
    waiting = ApprovalRequest.objects.filter(state=RequestState.OPEN)[0]
    deployment = Deployment.objects.get(pk=release.deployment_id)
    return {
        "session": session_of(panel.people[0]),
        "rows": {
            "deployment": f"/deployments/{deployment.pk}/",
            "configuration": f"/deployments/{deployment.pk}/configuration/",
            "history": f"/deployments/{deployment.pk}/releases/",
            "logs": f"/deployments/{deployment.pk}/logs/",
            "approval": f"/approvals/{waiting.pk}/",
            "release": f"/releases/{release.pk}/",
            "moving": f"/releases/{moving.pk}/",
            "host": f"/fleet/hosts/{panel.hosts[0].pk}/",
            "cluster": f"/fleet/clusters/{panel.clusters[0].pk}/",
            "model": f"/catalog/{TargetModel.objects.all()[0].pk}/",
        },
    }


if __name__ == "__main__":
    import django

    django.setup()
    sys.stdout.write(json.dumps(fill()))

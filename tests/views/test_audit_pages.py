"""Pages far down the audit begin at a row, and none is left out or shown twice."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from deployments.models import AuditAction, User
from deployments.selectors.tables import table
from tests.audit_rows import AuditEntryFactory
from tests.factories import DeploymentFactory, UserFactory
from tests.views.conftest import logged_in
from tests.views.pages import parsed

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A platform admin who reads two entries a page, of which four are counted."""
    monkeypatch.setattr(table, "PAGE_ROWS", 2)
    monkeypatch.setattr(table, "COUNTED_ROWS", 4)
    root: User = UserFactory.create(is_superuser=True)
    chat = DeploymentFactory.create()
    for number in range(11):
        act = AuditAction.EMERGENCY_STOP if number % 2 else AuditAction.RELEASE_STOPPED
        AuditEntryFactory.create(action=act, actor=root, on=chat)
    return logged_in(root)


def walk(client: Client, address: str, way: str) -> list[tuple[str, list[str]]]:
    """Every page from there on by its links, as (address, the rows' links)."""
    found = []
    while address:
        page = parsed(client.get(address))
        rows = [str(one["href"]) for one in page.select("tbody th a, tbody td a")]
        found.append((address, [one for one in rows if "/audit/" in one]))
        link = page.select_one(f".pages [rel={way}]")
        address = str(link["href"]) if link else ""
    return found


@pytest.mark.parametrize("filters", ["", "&act=deployment.emergency_stop"])
def test_every_row_is_on_one_page_down_and_up_again(
    reader: Client, filters: str
) -> None:
    down = walk(reader, f"/audit/?columns=number{filters}", "next")
    rows = [row for _address, page in down for row in page]
    lines = reader.get(f"/audit/entries.jsonl?columns=number{filters}").content
    every = [json.loads(line)["id"] for line in lines.splitlines()]

    assert [row.strip("/").rpartition("/")[2] for row in rows] == every
    assert len(every) >= 5
    far = [parse_qs(urlsplit(address).query) for address, _page in down[2:]]
    assert all("after" in one for one in far)
    up = walk(reader, down[-1][0], "prev")
    assert [page for _address, page in reversed(up)] == [
        page for _address, page in down
    ]
    assert any("until=" in address for address, _page in up) or len(down) < 5


def test_an_anchor_that_names_no_row_is_as_if_it_were_not_there(
    reader: Client,
) -> None:
    for word in ("x", "2026-01-01_x", "2026-01-01T00:00:00_3", "_"):
        assert reader.get("/audit/", {"after": word}).status_code == 200
    sorted_by = reader.get("/audit/", {"sort": "who", "page": "3"})
    assert "after=" not in sorted_by.content.decode()

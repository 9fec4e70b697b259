"""Secrets on the page of a cluster: admins store and remove them, nobody sees a value."""

import pytest
from django.test import Client

from deployments.models import Cluster, TeamRole, TeamSecret
from tests.factories import member
from tests.views.pages import parsed, queries_for, text_of
from tests.world import browser

VALUE = "k-0123456789"


@pytest.fixture
def admin(cluster: Cluster) -> Client:
    """A browser of a team admin."""
    return browser(member(cluster.team, "erin", TeamRole.ADMIN))


def _page(cluster: Cluster) -> str:
    return f"/fleet/clusters/{cluster.pk}/"


def _store(client: Client, cluster: Cluster, name: str, value: str) -> int:
    answer = client.post(
        f"{_page(cluster)}secrets/", {"secret_name": name, "value": value}
    )
    return answer.status_code


def test_an_admin_stores_a_secret_and_sees_its_name_and_version(
    admin: Client, cluster: Cluster
) -> None:
    assert _store(admin, cluster, "chat-key", VALUE) == 302
    assert _store(admin, cluster, "chat-key", f"{VALUE}x") == 302
    page = admin.get(_page(cluster))
    assert VALUE not in page.content.decode()
    row = parsed(page).select_one("[aria-labelledby=h-secrets] tbody tr")
    assert row is not None
    assert row.get_text(" ", strip=True).startswith("chat-key 2 ")
    assert "erin" in row.get_text()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("Chat Key", VALUE, "Use small letters"),
        ("off", VALUE, "do not call it off"),
        ("chat-key", "short", "8 to 512 characters"),
        ("chat-key", "with spaces in it", "no spaces"),
        ("chat-key", "schlüssel-lang", "ASCII"),
        ("chat-key", "", "This field is required"),
    ],
)
def test_what_cannot_be_a_secret_is_said_and_the_value_does_not_come_back(
    admin: Client, cluster: Cluster, name: str, value: str, told: str
) -> None:
    answer = admin.post(
        f"{_page(cluster)}secrets/", {"secret_name": name, "value": value}
    )
    assert answer.status_code == 422
    assert told in text_of(answer, "[aria-labelledby=h-secrets]")
    field = parsed(answer).select_one("input[name=value]")
    assert field is not None
    assert field.get("value") is None
    assert not TeamSecret.objects.exists()


def test_without_a_key_for_secrets_it_is_said_and_nothing_is_kept(
    admin: Client, cluster: Cluster, settings: object
) -> None:
    settings.CREDENTIALS_KEYS = []  # type: ignore[attr-defined]
    assert _store(admin, cluster, "chat-key", VALUE) == 409
    assert not TeamSecret.objects.exists()


def test_an_admin_removes_a_secret(admin: Client, cluster: Cluster) -> None:
    _store(admin, cluster, "chat-key", VALUE)
    answer = admin.post(f"{_page(cluster)}secrets/remove/", {"secret_name": "chat-key"})
    assert answer.status_code == 302
    assert not TeamSecret.objects.exists()


def test_others_see_names_and_no_forms(
    admin: Client, cluster: Cluster, as_alice: Client
) -> None:
    _store(admin, cluster, "chat-key", VALUE)
    page = as_alice.get(_page(cluster))
    section = parsed(page).select_one("[aria-labelledby=h-secrets]")
    assert section is not None
    assert "chat-key" in section.get_text()
    assert section.select("form") == []
    assert _store(as_alice, cluster, "other", VALUE) == 403


def test_the_page_takes_few_queries(admin: Client, cluster: Cluster) -> None:
    _store(admin, cluster, "chat-key", VALUE)
    assert queries_for(admin, _page(cluster)) <= 12


def test_the_wizard_offers_the_secrets_of_the_cluster(
    admin: Client, cluster: Cluster
) -> None:
    _store(admin, cluster, "chat-key", VALUE)
    page = admin.get(f"/plan/?step=details&cluster={cluster.pk}")
    options = parsed(page).select("select[name=api_key] option")
    assert [option.get("value") for option in options] == ["", "off", "chat-key"]

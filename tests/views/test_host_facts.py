"""What a team admin enters about a host, and who may not."""

import pytest
from django.test import Client

from deployments.models import Cluster, Host
from tests.factories import HostFactory
from tests.views.pages import parsed, text_of

FACTS = {"model_root": "/data/models/", "address": "192.0.2.10", "interface": "eth0"}


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """A host of which nobody entered anything."""
    return HostFactory.create(cluster=cluster)


def address_of(host: Host) -> str:
    """The page of the host."""
    return f"/fleet/hosts/{host.pk}/"


def test_an_admin_enters_facts_that_plans_use(as_dora: Client, host: Host) -> None:
    assert as_dora.post(address_of(host), FACTS).status_code == 302
    host.refresh_from_db()
    assert (host.model_root, host.address, host.interface) == (
        "/data/models",
        "192.0.2.10",
        "eth0",
    )
    assert "/data/models" in text_of(as_dora.get(address_of(host)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model_root", "models"),
        ("model_root", "/"),
        ("model_root", "/etc"),
        ("model_root", "/data/../etc"),
        ("model_root", "/var/run/docker.sock"),
        ("address", "http://example.org"),
        ("address", "a b"),
        ("address", "-oProxyCommand=id"),
        ("interface", "eth0;id"),
        ("interface", "a-name-that-is-too-long"),
    ],
)
def test_a_wrong_fact_is_one_sentence_and_changes_nothing(
    as_dora: Client, host: Host, field: str, value: str
) -> None:
    answer = as_dora.post(address_of(host), {**FACTS, field: value})
    assert answer.status_code == 422
    page = parsed(answer)
    assert page.select_one(f"#id_{field}_error") is not None
    host.refresh_from_db()
    assert (host.model_root, host.address, host.interface) == ("", "", "")


def test_others_see_the_facts_and_no_form(
    as_alice: Client, as_bob: Client, host: Host
) -> None:
    for client in (as_alice, as_bob):
        page = parsed(client.get(address_of(host)))
        assert page.select_one("#id_model_root") is None
        assert client.post(address_of(host), FACTS).status_code == 403
    host.refresh_from_db()
    assert host.model_root == ""


def test_a_stranger_finds_no_host(as_charlie: Client, host: Host) -> None:
    assert as_charlie.post(address_of(host), FACTS).status_code == 404

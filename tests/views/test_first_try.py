"""The first try with the practice image: one click from an empty panel to a plan to submit."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from deployments.models import Cluster, Host, Platform, Reachability
from deployments.services.catalog import load_shipped_catalog
from tests.factories import HostFactory
from tests.views.pages import parsed, text_of

LABEL = "Try it with the practice image"
PRACTICE = {
    "reference": "draftboard/practice-vllm:0.32.0",
    "image_id": "sha256:" + "a" * 64,
    "digest": None,
}


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """A machine without accelerators that has the practice image."""
    return HostFactory.create(
        cluster=cluster, name="local", platform=Platform.CPU, images=[PRACTICE]
    )


def first_try(client: Client) -> str:
    """Where the button of the overview leads; empty without it."""
    for link in parsed(client.get("/")).select("main a"):
        if link.text == LABEL:
            return str(link["href"])
    return ""


def test_one_click_leads_to_a_plan_that_can_be_submitted(
    as_alice: Client, host: Host
) -> None:
    load_shipped_catalog()
    address = first_try(as_alice)
    assert "step=review" in address
    assert urlencode({"host": host.name}) in address
    page = as_alice.get(address)
    assert page.status_code == 200
    submit = parsed(page).select_one("form[action$='/plan/submit/'] button")
    assert submit is not None
    assert not submit.has_attr("disabled")
    assert "practice" in text_of(page)


@pytest.mark.parametrize(
    "change",
    [
        {"images": []},
        {"reachability": Reachability.UNKNOWN},
    ],
)
def test_without_the_image_or_the_engine_there_is_no_first_try(
    as_alice: Client, host: Host, change: dict[str, object]
) -> None:
    Host.objects.filter(pk=host.pk).update(**change)
    assert first_try(as_alice) == ""

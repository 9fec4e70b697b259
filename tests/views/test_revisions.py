"""Any two revisions of a deployment are compared, whatever runs."""

import pytest
from django.test import Client

from deployments.models import Cluster, Deployment, User
from tests.factories import DeploymentFactory, PlanFactory
from tests.plan_rows import request_for, stored
from tests.plan_values import plan_value
from tests.views.page_parts import words
from tests.views.pages import parsed, queries_for, text_of


@pytest.fixture(name="chat")
def three_revisions(cluster: Cluster, alice: User) -> Deployment:
    """MTP with 3, then 5, then EAGLE-3 with 5."""
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    for number, method, count in ((1, "mtp", 3), (2, "mtp", 5), (3, "eagle3", 5)):
        value = plan_value(number=number, method=method, count=count)
        request_for(stored(row, value))
    return row


def changed(client: Client, address: str) -> dict[str, list[str]]:
    """The settings that differ: before and after."""
    return {
        words(line, "th"): [words(line, ".was"), words(line, ".now")]
        for line in parsed(client.get(address)).select(".diff tbody tr")
    }


def test_the_newest_two_are_compared_unless_others_are_named(
    as_bob: Client, chat: Deployment
) -> None:
    address = f"/deployments/{chat.pk}/revisions/"
    method, count = (
        f"--speculative-config.{name}" for name in ("method", "num_speculative_tokens")
    )
    newest = changed(as_bob, address)
    assert newest[method] == ["mtp", "eagle3"]
    assert count not in newest
    back = changed(as_bob, f"{address}?old=2&new=1")
    assert back[count] == ["5", "3"]
    assert method not in back
    page = parsed(as_bob.get(f"{address}?old=1&new=3"))
    assert "r3 against r1" in words(page, "header .note")
    assert page.select(".removed del")
    assert page.select(".added ins")
    assert page.select(".abreast input[type=checkbox]")
    assert changed(as_bob, f"{address}?old=nine&new=3") == newest
    assert queries_for(as_bob, address) <= 12
    releases = as_bob.get(f"/deployments/{chat.pk}/releases/")
    assert parsed(releases).select(f"a[href='{address}']")


def test_one_revision_has_nothing_to_compare_and_strangers_see_nothing(
    as_bob: Client, as_charlie: Client, cluster: Cluster, alice: User
) -> None:
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    request_for(stored(row, plan_value(number=1)))
    address = f"/deployments/{row.pk}/revisions/"
    assert "one revision only" in text_of(as_bob.get(address))
    assert as_charlie.get(address).status_code == 404
    assert as_bob.post(address).status_code == 405
    tampered = PlanFactory.create(
        revision__deployment=row, revision__number=2, document="{}"
    )
    request_for(tampered)
    refused = as_bob.get(address)
    assert refused.status_code == 422
    assert "does not match its digest" in text_of(refused)

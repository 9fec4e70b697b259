"""The card of the newest change of speculation: windows, expected ranges, and why there are none."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import Release, Replica, ServingMinute, TeamRole
from tests.factories import ReleaseFactory, ReplicaFactory
from tests.metric_rows import ServingMinuteFactory
from tests.views.pages import parsed, queries_for, text_of
from tests.world import World

pytestmark = pytest.mark.django_db

FAST = {"sum": 1.0, "count": 100, "le": {"0.01": 50, "0.025": 40, "0.05": 10}}
SLOW = {"sum": 1.9, "count": 100, "le": {"0.01": 5, "0.025": 85, "0.05": 10}}


@pytest.fixture
def own() -> World:
    return World("own")


@pytest.fixture
def reader(own: World) -> Client:
    return own.person(TeamRole.VIEWER)


@pytest.fixture
def replica(own: World) -> Replica:
    return own.release.replicas.get()


def page(own: World) -> str:
    return f"/deployments/{own.deployment.pk}/serving/change/"


def changed(own: World, replica: Replica) -> None:
    """Release 1 without speculation, the world's own with it; both served the same requests."""
    now = timezone.now()
    Release.objects.update(number=2, live_at=now - timedelta(minutes=40))
    plain = ReleaseFactory.create(
        deployment=own.deployment,
        number=1,
        state="stopped",
        live_at=now - timedelta(minutes=90),
        ended_at=now - timedelta(minutes=45),
        plan__method="off",
        plan__num_speculative_tokens=None,
    )
    before = ReplicaFactory.create(release=plain)
    for row, latest in ((before, 45), (replica, 15)):
        for ago in range(latest, latest + 25):
            at_s = int(now.timestamp()) // 60 * 60 - 60 * ago
            ServingMinuteFactory.create(
                replica=row,
                start_s=at_s,
                requests=40,
                generated=4000,
                running_sum=2 if row == replica else 4,
                output_token=FAST if row == replica else SLOW,
            )


def test_a_change_of_speculation_is_compared_before_and_after(
    own: World, reader: Client, replica: Replica
) -> None:
    changed(own, replica)
    assert queries_for(reader, page(own)) <= 12
    said = text_of(reader.get(page(own))).replace("\N{NO-BREAK SPACE}", " ")
    assert "Before and after release 1 → 2" in said
    assert (
        "Time per output token P50 17.9 ms 10.0 ms down \N{MINUS SIGN}44 % 0.5 to 0.7 times; within"
        in said
    )
    assert "As many requests came per second as before" in said
    ServingMinute.objects.filter(replica=replica).update(requests=1)
    said = text_of(reader.get(page(own)))
    assert "Not comparable After the change, 15 requests were finished" in said
    assert "Expected" not in said


def test_the_serving_tab_fetches_the_card_and_has_a_link_to_it(
    own: World, reader: Client, replica: Replica
) -> None:
    place = parsed(reader.get(f"/deployments/{own.deployment.pk}/serving/")).select_one(
        "#change"
    )
    assert place is not None
    assert (place["hx-get"], place["hx-target"]) == (page(own), "#change")
    assert place.select(f"a[href='{page(own)}']")
    empty = parsed(reader.get(page(own), headers={"HX-Request": "true"}))
    assert "No release of the last 30 days" in empty.select("#change")[0].text
    changed(own, replica)
    card = parsed(reader.get(page(own), headers={"HX-Request": "true"}))
    assert len(card.select("#change .bars__cell .band")) == 2
    assert card.select("h1") == []


def test_the_card_is_its_teams_own(own: World, client: Client, reader: Client) -> None:
    assert client.get(page(own)).status_code == 302
    assert reader.post(page(own)).status_code == 405
    assert World("other").person(TeamRole.ADMIN).get(page(own)).status_code == 404

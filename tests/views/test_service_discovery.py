"""Prometheus finds the live replicas of a team with a key, and of no other team."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from deployments.models import Host, Release, ReleaseState, Replica, TeamRole, User
from tests.factories import member
from tests.world import World, browser

pytestmark = pytest.mark.django_db

URL = "/service-discovery/targets.json"


@pytest.fixture
def own() -> World:
    world = World("own")
    Host.objects.update(address="10.0.0.5")
    return world


@pytest.fixture
def reader(own: World) -> User:
    return member(own.team, "vera", TeamRole.VIEWER)


def key_of(user: User) -> str:
    out = StringIO()
    call_command("service_discovery_key", user.username, stdout=out)
    return out.getvalue().strip()


def groups(key: str) -> list[dict[str, object]]:
    answer = Client().get(URL, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200
    found: list[dict[str, object]] = json.loads(answer.content)
    return found


def test_live_replicas_are_listed_with_their_labels(own: World, reader: User) -> None:
    World("foreign")
    found = groups(key_of(reader))
    assert [one["targets"] for one in found] == [["10.0.0.5:8000"]]
    assert found[0]["labels"] == {
        "__meta_draftboard_team": "own",
        "__meta_draftboard_cluster": own.cluster.slug,
        "deployment": "own-canary",
        "role": "combined",
        "replica": "combined-0",
        "release": "1",
        "revision": "1",
        "method": "mtp",
    }
    assert browser(reader).get(URL).json() == found


def test_what_is_no_target_is_left_out(own: World, reader: User) -> None:
    key = key_of(reader)
    Host.objects.update(address="")
    assert groups(key) == []
    Host.objects.update(address="fd00::5")
    assert groups(key)[0]["targets"] == ["[fd00::5]:8000"]
    Replica.objects.update(role="router")
    assert groups(key) == []
    Replica.objects.update(role="combined")
    Release.objects.update(state=ReleaseState.STOPPED)
    assert groups(key) == []


@pytest.mark.parametrize("key", ["", "x", "a:b:c", "x" * 5000])
def test_without_a_key_nothing_is_told(own: World, key: str) -> None:
    answer = Client().get(URL, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 401
    assert "deployment" not in answer.content.decode()
    assert Client().get(URL).status_code == 401


def test_a_key_ends_with_the_password_the_person_and_the_membership(
    own: World, reader: User
) -> None:
    key = key_of(reader)
    header = {"Authorization": f"Bearer {key}"}
    reader.memberships.all().delete()
    assert Client().get(URL, headers=header).status_code == 401
    other = member(own.team, "otto", TeamRole.VIEWER)
    header = {"Authorization": f"Bearer {key_of(other)}"}
    other.set_password("another-long-password")
    other.save()
    assert Client().get(URL, headers=header).status_code == 401


def test_nobody_of_that_name_has_a_key() -> None:
    with pytest.raises(CommandError, match="no active person nobody"):
        call_command("service_discovery_key", "nobody")

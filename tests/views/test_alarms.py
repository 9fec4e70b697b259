"""Alarms on their pages, on the overview, and above the tabs of their deployment."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import Alarm, TeamRole
from tests.factories import AlarmFactory
from tests.views.pages import queries_for, text_of
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def own() -> World:
    return World("own")


@pytest.fixture
def reader(own: World) -> Client:
    return own.person(TeamRole.VIEWER)


@pytest.fixture
def operator(own: World) -> Client:
    return own.person(TeamRole.OPERATOR)


def words(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return text_of(response, "main")


def test_the_list_shows_open_alarms_and_the_others_on_request(
    own: World, reader: Client
) -> None:
    AlarmFactory.create(
        deployment=own.deployment,
        kind="drop",
        closed_at=timezone.now(),
        closed_because="recovered",
    )
    assert "0 of 6000" in words(reader, "/alarms/")
    assert "Recovered" not in words(reader, "/alarms/")
    assert "Recovered" in words(reader, "/alarms/?show=closed")
    assert "Recovered" in words(reader, "/alarms/?show=all&kind=drop")
    assert "0 of 6000" not in words(reader, "/alarms/?kind=gap")
    assert "0 of 6000" in reader.get("/alarms/table.csv").content.decode()
    assert queries_for(reader, "/alarms/") <= 12


def test_others_do_not_see_it(own: World, reader: Client) -> None:
    foreign = World("foreign")
    assert "foreign" not in words(reader, "/alarms/?show=all")
    assert reader.get(f"/alarms/{foreign.alarm.pk}/").status_code == 404


def test_its_page_explains_it_with_numbers_window_threshold_and_source(
    own: World, reader: Client
) -> None:
    said = words(reader, f"/alarms/{own.alarm.pk}/")
    for part in (
        "0 of 6000",
        "30 min",
        "6,000",
        "Threshold 1",
        "Sums by minute of release 1",
    ):
        assert part in said
    assert "Acknowledge" not in said.replace("Acknowledged by", "")
    assert queries_for(reader, f"/alarms/{own.alarm.pk}/") <= 12


def test_an_operator_acknowledges_it_with_a_note(own: World, operator: Client) -> None:
    path = f"/alarms/{own.alarm.pk}/"
    assert "0 of 6000" in words(operator, "/")
    answer = operator.post(f"{path}acknowledge/", {"note": "waiting for a driver"})
    assert answer.status_code == 302
    assert "waiting for a driver" in words(operator, path)
    assert "0 of 6000" not in words(operator, "/")
    assert "waiting for a driver" in words(operator, "/alarms/")
    assert "0 of 6000" not in words(operator, "/alarms/?show=unseen")


def test_an_operator_is_offered_the_wizard_without_speculation(
    own: World, operator: Client, reader: Client
) -> None:
    path = f"/alarms/{own.alarm.pk}/"
    answer = operator.get(path)
    address = answer.context["without"]
    assert address.startswith("/plan/?")
    assert "method=off" in address
    assert "name=own-canary" in address
    assert reader.get(path).context["without"] == ""
    assert queries_for(operator, path) <= 12


def test_a_note_that_is_too_long_is_not_lost(own: World, operator: Client) -> None:
    path = f"/alarms/{own.alarm.pk}/acknowledge/"
    answer = operator.post(path, {"note": "x" * 501})
    assert answer.status_code == 422
    assert "x" * 501 in answer.content.decode()
    assert Alarm.objects.get(pk=own.alarm.pk).acknowledged_at is None


def test_a_reader_may_not_acknowledge(own: World, reader: Client) -> None:
    path = f"/alarms/{own.alarm.pk}/acknowledge/"
    assert reader.post(path, {"note": ""}).status_code == 403


def test_it_stands_above_the_tabs_and_is_marked_in_the_chart(
    own: World, reader: Client
) -> None:
    path = f"/deployments/{own.deployment.pk}/"
    for tab in ("", "configuration/", "releases/", "logs/"):
        assert "0 of 6000" in words(reader, path + tab)
    assert "alarm, began" in words(reader, f"{path}acceptance/")
    data = reader.get(f"{path}acceptance.json").json()
    assert [one["name"] for one in data["alarms"]] == ["Nothing accepted"]
    assert data["alarms"][0]["to"] is None
    Alarm.objects.update(
        opened_at=timezone.now() - timedelta(days=40),
        began_at=timezone.now() - timedelta(days=40),
        closed_at=timezone.now() - timedelta(days=39),
        closed_because="stopped",
    )
    assert reader.get(f"{path}acceptance.json").json()["alarms"] == []
    assert queries_for(reader, f"{path}acceptance/") <= 12

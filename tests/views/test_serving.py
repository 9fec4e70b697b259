"""The serving tab: percentiles from buckets, means over scrapes, unknown as no data."""

import csv
import io
import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from deployments.models import (
    CounterCursor,
    Release,
    Replica,
    ServingDay,
    ServingHour,
    ServingMinute,
    TeamRole,
)
from deployments.templatetags.serving import latency
from tests.factories import ReplicaFactory
from tests.views.pages import parsed, queries_for, text_of
from tests.world import World

pytestmark = pytest.mark.django_db

FAST = {"sum": 1.0, "count": 100, "le": {"0.01": 50, "0.025": 40, "0.05": 10}}


@pytest.fixture
def own() -> World:
    return World("own")


@pytest.fixture
def reader(own: World) -> Client:
    return own.person(TeamRole.VIEWER)


@pytest.fixture
def replica(own: World) -> Replica:
    return own.release.replicas.get()


def served(replica: Replica, minutes_ago: int = 3, **more: Any) -> None:
    at_s = int(time.time()) - 60 * minutes_ago
    for level in (ServingMinute, ServingHour, ServingDay):
        level._default_manager.create(
            deployment=replica.release.deployment,
            replica=replica,
            start_s=at_s // level.STEP_S * level.STEP_S,
            **{
                "scrapes": 6,
                "running_sum": 12,
                "running_most": 4,
                "cache_scrapes": 6,
                "cache_sum": 1.5,
                "cache_most": 0.5,
                "generated": 6000,
                "first_token": FAST,
                "output_token": FAST,
                "restarts": 1,
                **more,
            },
        )


def page(own: World, more: str = "") -> str:
    return f"/deployments/{own.deployment.pk}/serving/{more}"


@pytest.mark.parametrize("length", ["1h", "7d", "30d"])
def test_figures_of_a_range_come_from_the_level_of_its_steps(
    own: World, reader: Client, replica: Replica, length: str
) -> None:
    served(replica)
    said = text_of(reader.get(page(own, f"?range={length}")))
    for part in (
        "Time per output token 10.0 ms nine of ten under 25.0 ms",
        "Requests 2.0 running, 0.0 waiting, mean",
        "KV cache in use 25 % at most 50 %".replace(" %", "\N{NO-BREAK SPACE}%"),
        "Restarts 1",
        "6,000",
    ):
        assert part.replace("\N{NO-BREAK SPACE}", " ") in said.replace(
            "\N{NO-BREAK SPACE}", " "
        )
    assert queries_for(reader, page(own)) <= 12


def test_replicas_are_added_and_prefill_stands_only_in_its_row(
    own: World, reader: Client, replica: Replica
) -> None:
    served(replica)
    for role, rank in (("decode", 7), ("prefill", 8)):
        served(ReplicaFactory.create(release=own.release, role=role, rank=rank))
    answer = reader.get(page(own))
    assert answer.context["serving"].whole.running == 4.0
    names = [part.replica for part in answer.context["serving"].replicas]
    assert names == ["combined-0", "decode-7", "prefill-8"]
    assert "prefill-8" in text_of(answer)
    prefill = reader.get(page(own, "?only=prefill"))
    assert prefill.context["serving"].whole.running == 2.0
    assert "Prefill replicas are left out" in text_of(answer)
    assert "Prefill replicas are left out" not in text_of(prefill)
    one = reader.get(page(own, "?range=1h&only=decode-7")).context
    assert one["serving"].whole.running == 2.0
    links = {name: (url, here) for name, url, here in one["choices"]["replicas"]}
    assert list(links) == ["combined", "decode", "prefill", *names]
    assert links["decode-7"][1]
    assert links["prefill"][0].endswith("?range=1h&only=prefill")
    for key in ("here", "file", "zoom"):
        assert "only=decode-7" in one["choices"][key]


def test_a_release_of_the_range_is_marked_in_every_chart(
    own: World, reader: Client, replica: Replica
) -> None:
    served(replica)
    Release.objects.filter(pk=own.release.pk).update(
        live_at=timezone.now() - timedelta(minutes=30)
    )
    answer = reader.get(page(own, "?range=1h"))
    (place,) = answer.context["events"]
    assert 40 < float(place) < 60
    charts = parsed(answer).select("svg.over-time")
    assert len(charts) == 5
    assert all(len(chart.select("line.event")) == 1 for chart in charts)
    assert "went live" in text_of(answer)


def test_nothing_read_is_said_and_is_not_zero(own: World, reader: Client) -> None:
    answer = reader.get(page(own))
    assert "Nothing was read" in text_of(answer)
    assert not answer.context["serving"].whole.seen


def test_a_cache_that_is_not_exported_is_no_data(
    own: World, reader: Client, replica: Replica
) -> None:
    served(replica, cache_scrapes=0, cache_sum=0, cache_most=0, first_token={})
    whole = reader.get(page(own)).context["serving"].whole
    assert (whole.cache, whole.first_median) == (None, None)


def test_time_between_steps_is_called_so_and_trouble_is_named(
    own: World, reader: Client, replica: Replica
) -> None:
    served(replica)
    Release.objects.update(state="live")
    CounterCursor.objects.create(
        replica=replica,
        container_id=replica.container_id,
        run_started_at="x",
        output_from="inter_token_latency_seconds",
        problem="no_answer",
    )
    said = text_of(reader.get(page(own)))
    assert "Time per step" in said
    assert "The counters of combined-0 are not read: its metrics port" in said


def test_latencies_are_read_in_milliseconds_up_to_ten_seconds() -> None:
    assert [latency(one) for one in (0.0123, 0.45, 12.5)] == [
        "12.3 ms",
        "450 ms",
        "12.50 s",
    ]
    assert latency(None) == "no data"


def test_a_drawn_range_stands_in_the_address_the_file_and_the_way_to_grafana(
    own: World, reader: Client, replica: Replica, settings: Settings
) -> None:
    served(replica)
    assert "grafana" not in reader.get(page(own)).text
    settings.GRAFANA_LINK = "https://grafana.example/d/a?var-x={deployment}&from={from}"
    now_s = int(time.time())
    answer = reader.get(page(own, f"?range=own&from={now_s - 1800}&to={now_s}"))
    seen, choices = answer.context["serving"].range, answer.context["choices"]
    assert (seen.key, seen.step_s) == ("own", 60)
    assert choices["here"].endswith(f"?range=own&from={seen.start_s}&to={seen.end_s}")
    zoom = parsed(answer).select_one("[data-zoom]")
    assert zoom is not None
    assert zoom["data-from"] == str(seen.start_s)
    grafana = parsed(answer).select("a[href^='https://grafana.example/']")
    assert [str(link["href"]).partition("?")[2] for link in grafana] == [
        f"var-x={own.deployment.name}&from={seen.start_s}000"
    ]
    again = reader.get(choices["here"]).context["serving"].range
    assert again == seen
    file = reader.get(choices["file"])
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert "-serving-" in file["Content-Disposition"]
    assert len(rows) == seen.steps
    (full,) = (row for row in rows if row["running"])
    assert (full["output_median"], full["tokens_s"]) == ("0.01", "100.0")
    assert (full["cache"], full["requests_s"]) == ("0.25", "0.0")
    assert {row["cache"] for row in rows} == {"", "0.25"}


def test_the_file_is_its_teams_own(own: World, client: Client, reader: Client) -> None:
    path = f"/deployments/{own.deployment.pk}/serving.csv"
    assert client.get(path).status_code == 302
    assert reader.post(path).status_code == 405
    assert World("other").person(TeamRole.ADMIN).get(path).status_code == 404

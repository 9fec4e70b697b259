"""Acceptance history: page and chart data are sums of samples; no traffic is a gap, not zero."""

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from bs4 import Tag
from django.test import Client
from django.utils import timezone

from deployments.models import (
    AcceptanceSample,
    Cluster,
    Release,
    ReleaseState,
    Replica,
    User,
)
from deployments.planning.plan import Role
from tests.factories import (
    AcceptanceSampleFactory,
    AcceptanceStandingFactory,
    DeploymentFactory,
    LogGapFactory,
    ReplicaFactory,
)
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed, queries_for

SECOND = 10**9
NOW = 1_795_800_000
"""A full quarter of an hour: 2026-11-27 17:20:00 UTC is the moment that tests ask about."""
SPANS = {"1h": 60, "6h": 300, "24h": 900, "7d": 3600}


@pytest.fixture
def release(cluster: Cluster, alice: User) -> Release:
    """A live release of MTP with three tokens."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value()
    row = released(stored(deployment, value), value, ReleaseState.LIVE)
    went_live = datetime.fromtimestamp(NOW - 1800, tz=UTC)
    Release.objects.filter(pk=row.pk).update(live_at=went_live)
    AcceptanceStandingFactory.create(deployment=deployment)
    return row


@pytest.fixture
def replica(release: Release) -> Replica:
    """Its only replica."""
    return release.replicas.get()


def sample(replica: Replica, ago_s: float, **counts: Any) -> AcceptanceSample:
    """A window that was printed so many seconds before the moment."""
    at = NOW * SECOND - round(ago_s * SECOND)
    return AcceptanceSampleFactory.create(replica=replica, timestamp_ns=at, **counts)


def page_of(client: Client, release: Release, span: str = "1h") -> Tag:
    """The page over a range that ends at the moment."""
    path = f"/deployments/{release.deployment_id}/acceptance/"
    return parsed(client.get(f"{path}?range={span}&until={NOW}"))


def data_of(client: Client, release: Release, query: str = "range=1h") -> Any:
    """The numbers of the chart."""
    path = f"/deployments/{release.deployment_id}/acceptance.json"
    answer = client.get(f"{path}?{query}&until={NOW}")
    assert answer.status_code == 200
    return answer.json()


def table_of(page: Tag) -> list[list[str]]:
    """The rows of the table of the same data, sum last."""
    rows = page.select(".course ~ details tr")[1:]
    return [[cell.get_text(strip=True) for cell in row.select("td")] for row in rows]


def number(text: str) -> int:
    """A grouped number as a number."""
    return int(text.replace(",", ""))


def test_strangers_get_no_numbers(
    client: Client, as_charlie: Client, as_alice: Client, release: Release
) -> None:
    path = f"/deployments/{release.deployment_id}/acceptance.json"
    assert client.get(path).status_code == 302
    assert as_charlie.get(path).status_code == 404
    assert as_alice.post(path).status_code == 405


def test_numbers_equal_the_sums_of_the_samples(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """Page, table and chart data agree with the table of samples to the token."""
    for place in range(40):
        drafts = 100 + place
        sample(
            replica,
            place * 97,
            accepted=2 * drafts - place,
            drafted=3 * drafts,
            num_drafts=drafts,
            per_position=[drafts - place, drafts // 2, drafts // 2],
        )
    rows = [
        row
        for row in AcceptanceSample.objects.all()
        if (NOW - 3600) * SECOND < row.timestamp_ns <= NOW * SECOND
    ]
    assert 0 < len(rows) < 40
    accepted = sum(row.accepted for row in rows)
    drafted = sum(row.drafted for row in rows)
    drafts = sum(row.num_drafts or 0 for row in rows)

    data = data_of(as_alice, release)
    assert data["totals"] == {
        "windows": len(rows),
        "accepted": accepted,
        "drafted": drafted,
        "num_drafts": drafts,
        "acceptance_rate": accepted / drafted,
        "mean_acceptance_length": 1 + accepted / drafts,
    }
    for name, total in (("accepted", accepted), ("drafted", drafted)):
        assert sum(bucket[name] or 0 for bucket in data["buckets"]) == total
    places = [sum(row.per_position[place] for row in rows) for place in range(3)]
    assert data["per_position"] == places
    by_step = [
        [rate * bucket["num_drafts"] for rate in bucket["per_position"]]
        for bucket in data["buckets"]
        if bucket["per_position"]
    ]
    assert [sum(step) for step in zip(*by_step, strict=True)] == pytest.approx(places)

    table = table_of(page_of(as_alice, release))
    *steps, total_row = table
    assert [number(cell) for cell in total_row[:3]] == [accepted, drafted, drafts]
    full = [row for row in steps if len(row) == 6]
    assert sum(number(row[0]) for row in full) == accepted
    assert sum(number(row[1]) for row in full) == drafted
    whole = [f"{100 * place / drafts:.0f}" for place in places]
    assert total_row[5] == f"{' / '.join(whole)}\u00a0%"
    shown = words(page_of(as_alice, release), "[aria-labelledby=h-sum]")
    assert f"{accepted:,} tokens" in shown
    assert f"{drafted:,} tokens" in shown


def test_no_traffic_is_a_gap_and_never_zero(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    sample(replica, 90, accepted=0, drafted=0, num_drafts=0, per_position=[])
    sample(replica, 150, accepted=0, drafted=90, num_drafts=30, per_position=[0, 0, 0])
    buckets = data_of(as_alice, release)["buckets"]
    keys = ("accepted", "drafted", "acceptance_rate", "mean_acceptance_length")
    newest, idle, rejected = buckets[-1], buckets[-2], buckets[-3]
    assert newest["accepted"] == 406
    assert [idle[key] for key in keys] == [None] * 4
    assert idle["per_position"] is None
    assert rejected["per_position"] == [0.0, 0.0, 0.0]
    assert [rejected[key] for key in keys] == [0, 90, 0.0, 1.0]
    assert all(bucket["drafted"] is None for bucket in buckets[:-3])
    table = table_of(page_of(as_alice, release))
    assert table[1] == ["not seen"]
    assert table[2][0] == "0"


def test_without_samples_everything_is_no_data(
    as_alice: Client, release: Release
) -> None:
    data = data_of(as_alice, release)
    assert data["totals"]["acceptance_rate"] is None
    assert data["totals"]["mean_acceptance_length"] is None
    assert data["per_position"] is None
    page = page_of(as_alice, release)
    assert words(page, ".figures div:nth-of-type(1) .num") == "no data"
    assert words(page, ".figures div:nth-of-type(2) .num") == "no data"
    assert "No traffic" in words(page, ".verdict")
    assert page.select(".bars") == []


def test_unknown_drafts_leave_the_length_unknown(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 20, num_drafts=None, per_position=[])
    totals = data_of(as_alice, release)["totals"]
    assert totals["acceptance_rate"] == pytest.approx(406 / 609)
    assert totals["num_drafts"] is None
    assert totals["mean_acceptance_length"] is None


@pytest.mark.parametrize(("span", "step"), SPANS.items())
def test_ranges_have_round_steps(
    as_alice: Client, release: Release, span: str, step: int
) -> None:
    data = data_of(as_alice, release, f"range={span}")
    assert data["step_s"] == step
    edges = [bucket["from"] for bucket in data["buckets"]]
    assert all(edge % step == 0 for edge in edges)
    assert {after - before for before, after in pairwise(edges)} == {step}
    assert data["to"] - data["from"] == step * len(edges)
    assert data["from"] < NOW <= data["to"]


@pytest.mark.parametrize(
    "query",
    ["", "range=9y", "until=", "until=-5", "until=1e9", "until=٣", f"until={10**30}"],
)
def test_malformed_ranges_fall_back_to_the_last_day(
    as_alice: Client, release: Release, query: str
) -> None:
    path = f"/deployments/{release.deployment_id}/acceptance.json"
    data = as_alice.get(f"{path}?{query}").json()
    assert data["range"] == "24h"
    assert abs(data["to"] - time.time()) <= 900


def test_chart_asks_for_the_range_of_the_page(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    page = page_of(as_alice, release, "6h")
    answer = as_alice.get(attribute(page, "[data-chart]", "data-chart")).json()
    assert answer["range"] == "6h"
    assert answer["totals"]["accepted"] == 406
    assert words(page, ".choice [aria-current]") == "6 h"


def test_prefill_replicas_are_left_out(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    sample(ReplicaFactory.create(release=release, role=Role.PREFILL), 30)
    assert data_of(as_alice, release)["totals"]["accepted"] == 406


def test_other_deployments_are_left_out(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    sample(ReplicaFactory.create(), 30)
    assert data_of(as_alice, release)["totals"]["windows"] == 1


def test_releases_and_lost_lines_are_marked(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    LogGapFactory.create(
        replica=replica,
        from_ns=(NOW - 600) * SECOND + 5,
        to_ns=(NOW - 540) * SECOND + 5,
        reason="rotated",
    )
    data = data_of(as_alice, release)
    assert data["markers"] == [
        {"at": NOW - 1800, "kind": "release", "release": 1, "revision": 1}
    ]
    assert data["log_gaps"] == [
        {"from": NOW - 600, "to": NOW - 539, "reason": "rotated"}
    ]
    page = page_of(as_alice, release)
    assert "Release 1 (r1) went live" in page.get_text(" ")
    assert "Log lines were lost in this range (rotated)" in page.get_text(" ")
    assert data_of(as_alice, release, "range=1h")["markers"]


def test_bars_show_each_position_of_what_runs(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    rows = page_of(as_alice, release).select(".bars tbody tr")
    shown = [[cell.get_text(strip=True) for cell in row.select(".fig")] for row in rows]
    assert [row[0] for row in shown] == ["90\xa0%", "65\xa0%", "45\xa0%"]
    assert [row[1] for row in shown] == ["183", "132", "91"]
    widths = [attribute(row, ".bar", "width") for row in rows]
    assert widths == ["90.15%", "65.02%", "44.83%"]


@pytest.mark.parametrize(
    ("accepted", "word"),
    [(580, "Healthy"), (350, "Normal"), (100, "Low")],
)
def test_verdict_names_the_numbers_behind_it(
    as_alice: Client, release: Release, replica: Replica, accepted: int, word: str
) -> None:
    thirds = [accepted - 2 * (accepted // 3), accepted // 3, accepted // 3]
    sample(replica, 30, accepted=accepted, per_position=thirds)
    verdict = words(page_of(as_alice, release), ".verdict")
    assert verdict.startswith(word)
    assert f"{accepted} of 609 drafted tokens were accepted" in verdict
    assert "60 % and 80 % per token" in words(page_of(as_alice, release), ".advice")


def test_advice_prepares_the_change_for_operators(
    as_alice: Client, as_bob: Client, release: Release, replica: Replica
) -> None:
    sample(
        replica,
        30,
        accepted=220,
        drafted=900,
        num_drafts=300,
        per_position=[200, 15, 5],
    )
    address = attribute(page_of(as_alice, release), ".advice .actions a", "href")
    assert "tokens=1" in address
    assert "name=chat" in address
    assert page_of(as_bob, release).select(".advice .actions") == []


def test_advice_judges_what_runs_and_not_what_ran(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    value = plan_value(number=2)
    plan = stored(release.deployment, value)
    old = released(plan, value, ReleaseState.STOPPED, number=2).replicas.get()
    sample(old, 30, accepted=0, drafted=9000, num_drafts=3000, per_position=[0, 0, 0])
    sample(replica, 20)
    page = page_of(as_alice, release)
    assert "406 of 609 drafted tokens" in words(page, ".verdict")
    assert data_of(as_alice, release)["totals"]["drafted"] == 9609


def test_stopped_deployment_is_not_judged_and_keeps_its_history(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """What was drafted before the stop must not be denied after it."""
    sample(replica, 60)
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.STOPPED)
    page = page_of(as_alice, release).get_text(" ", strip=True)
    assert "Nothing runs now, so nothing is judged." in page
    assert "Nothing was drafted" not in page
    assert "0 of 0" not in page
    assert "Of 0 drafts" not in page
    assert "every release in it" in page
    assert data_of(as_alice, release)["totals"]["drafted"]


def test_page_works_without_script_and_without_inline_style(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    page = page_of(as_alice, release)
    assert "needs JavaScript" in words(page, ".course noscript")
    assert page.select("[style]") == []
    assert len(table_of(page)) == 61
    for script in page.select("script"):
        assert script["src"]
        assert not script.get_text(strip=True)


def test_data_takes_few_queries(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    at = timezone.now() - timedelta(minutes=5)
    for place in range(20):
        AcceptanceSampleFactory.create(
            replica=replica, timestamp_ns=round(at.timestamp()) * SECOND + place
        )
    path = f"/deployments/{release.deployment_id}/"
    for address in (path, f"{path}acceptance.json"):
        assert queries_for(as_alice, address) <= 12

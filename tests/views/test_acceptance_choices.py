"""What may be chosen on the acceptance page: ranges, replicas, comparisons, a file; all in the address."""

import csv
import io
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bs4 import Tag
from django.test import Client
from django.utils import timezone

from deployments.models import (
    AcceptanceStanding,
    Cluster,
    LogCursor,
    Release,
    ReleaseState,
    Replica,
)
from deployments.planning.plan import Role
from deployments.services.rollups import roll_up
from tests.factories import (
    AcceptanceSampleFactory,
    AcceptanceStandingFactory,
    LogCursorFactory,
    ReleaseFactory,
    ReplicaFactory,
)
from tests.views.page_parts import attribute, words
from tests.views.pages import HTMX, parsed, queries_for

SECOND = 10**9
NOW = 1_795_800_000
"""2026-11-27 17:20:00 UTC."""
HOUR, DAY = 3600, 86_400


@pytest.fixture
def release(cluster: Cluster) -> Release:
    """A live release that has been heard of just now."""
    row = ReleaseFactory.create(
        deployment__cluster=cluster,
        number=3,
        live_at=datetime.fromtimestamp(NOW - 40 * DAY, tz=UTC),
    )
    AcceptanceStandingFactory.create(deployment=row.deployment)
    return row


@pytest.fixture
def replica(release: Release) -> Replica:
    """Its decode replica."""
    return ReplicaFactory.create(release=release, role=Role.DECODE, rank=0)


def sample(replica: Replica, ago_s: float, **counts: Any) -> None:
    """A window that was printed so many seconds before the moment."""
    at = NOW * SECOND - round(ago_s * SECOND)
    AcceptanceSampleFactory.create(replica=replica, timestamp_ns=at, **counts)


def page_of(client: Client, release: Release, query: str) -> Tag:
    """The page that an address shows."""
    return parsed(
        client.get(f"/deployments/{release.deployment_id}/acceptance/?{query}")
    )


def data_of(client: Client, release: Release, query: str) -> Any:
    """The numbers of its chart."""
    path = f"/deployments/{release.deployment_id}/acceptance.json"
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.parametrize(
    ("query", "step_s"),
    [
        (f"range=1h&until={NOW}", 60),
        (f"range=24h&until={NOW}", 900),
        (f"range=30d&until={NOW}", 6 * HOUR),
        (f"from={NOW - 100 * DAY}&to={NOW}", DAY),
    ],
)
def test_sums_are_the_same_before_and_after_rolling_up(
    as_alice: Client, release: Release, replica: Replica, query: str, step_s: int
) -> None:
    """Whatever level a range reads, and while half of its samples wait."""
    for place in range(60):
        sample(replica, place * 977 + 1, accepted=place, per_position=[place, 0, 0])
    before = data_of(as_alice, release, query)
    assert before["step_s"] == step_s
    assert before["totals"]["windows"] > 3
    roll_up(30)
    assert data_of(as_alice, release, query) == before
    roll_up()
    assert data_of(as_alice, release, query) == before


def test_an_own_range_is_in_the_persons_zone_and_in_the_address(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """Times as a browser's field writes them, or seconds; the chart asks for the same."""
    sample(replica, 30)
    local = timezone.get_current_timezone()
    start, end = (
        datetime.fromtimestamp(NOW - ago, tz=local).strftime("%Y-%m-%dT%H:%M")
        for ago in (7200, 0)
    )
    page = page_of(as_alice, release, f"range=own&from={start}&to={end}")
    fields = [
        field["value"]
        for field in page.select("[type=datetime-local]:not([name=against_to])")
    ]
    assert fields == [start, end]
    data = as_alice.get(attribute(page, "[data-chart]", "data-chart")).json()
    assert (data["from"], data["to"]) == (NOW - 7200, NOW)
    assert data["totals"]["windows"] == 1
    assert page.select(".choice [aria-current]") == []


@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday&to=today",
        f"from={NOW}&to={NOW - 60}",
        "from=1&to=4000000000",
        "from=0001-01-01T00:00&to=0001-01-02T00:00",
    ],
)
def test_ranges_that_cannot_be_are_the_last_day(
    as_alice: Client, release: Release, query: str
) -> None:
    assert data_of(as_alice, release, query)["range"] == "24h"


def test_old_ranges_have_steps_whose_sums_are_still_kept(
    as_alice: Client, release: Release, settings: Any
) -> None:
    """An hour of half a year ago is one step of an hour, not sixty empty minutes."""
    start = int(timezone.now().timestamp()) - 180 * DAY
    query = f"from={start}&to={start + HOUR}"
    assert data_of(as_alice, release, query)["step_s"] == HOUR
    settings.HOURS_KEPT_DAYS = 90
    assert data_of(as_alice, release, query)["step_s"] == DAY
    settings.HOURS_KEPT_DAYS = settings.MINUTES_KEPT_DAYS = 0
    assert data_of(as_alice, release, query)["step_s"] == 60


def test_quiet_is_not_the_same_as_unseen(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """Steps in which the container ran and was read had no traffic; others nobody saw."""
    sample(replica, 30)
    LogCursorFactory.create(
        replica=replica,
        run_started_at="2026-11-27T17:00:00.123456789Z",
        read_at=datetime.fromtimestamp(NOW, tz=UTC),
    )
    steps = data_of(as_alice, release, f"range=1h&until={NOW}")["buckets"]
    states = [step["state"] for step in steps]
    assert states == ["not_seen"] * 40 + ["no_traffic"] * 19 + ["drafted"]
    page = page_of(as_alice, release, f"range=1h&until={NOW}")
    cells = [cell.get_text() for cell in page.select(".course ~ details td.quiet")]
    assert cells == ["no traffic"] * 19 + ["not seen"] * 40
    key = words(page, ".course .key")
    assert "not seen: its log was not read" in key
    assert "not running" not in key


def test_before_a_release_was_live_nothing_ran(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """What cannot have been seen is told from what should have been."""
    sample(replica, 30)
    Release.objects.update(live_at=datetime.fromtimestamp(NOW - HOUR // 2, tz=UTC))
    query = f"range=1h&until={NOW}"
    states = [step["state"] for step in data_of(as_alice, release, query)["buckets"]]
    assert states == ["not_running"] * 30 + ["not_seen"] * 29 + ["drafted"]
    key = words(page_of(as_alice, release, query), ".course .key")
    assert "not running" in key
    assert "no traffic" not in key


def test_one_replica_or_all_that_draft(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    other = ReplicaFactory.create(release=release, role=Role.DECODE, rank=1)
    prefill = ReplicaFactory.create(release=release, role=Role.PREFILL, rank=0)
    for one in (replica, other, prefill):
        sample(one, 30)
    base = f"range=1h&until={NOW}"
    assert data_of(as_alice, release, base)["totals"]["drafted"] == 2 * 609
    for only, drafted in (("decode-1", 609), ("decode", 1218), ("prefill", None)):
        totals = data_of(as_alice, release, f"{base}&only={only}")["totals"]
        assert totals["drafted"] == (drafted or 0)
    page = page_of(as_alice, release, f"{base}&only=decode-1")
    current = page.select(".picks [aria-current]")
    assert [link.get_text(strip=True) for link in current] == ["decode-1", "nothing"]
    assert "range=1h" in attribute(page, ".picks [aria-current]", "href")
    fold = next(
        one for one in page.select("details") if "drafts are not expected" in one.text
    )
    assert "prefill-0: 406 of 609 tokens" in fold.get_text(" ", strip=True)
    rows = page.select("[aria-labelledby=h-replicas] tbody th")
    assert [row.get_text() for row in rows] == ["decode-0", "decode-1"]


def test_two_ranges_side_by_side(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """The day before accepted half: the page says so figure by figure."""
    sample(replica, 30)
    sample(replica, DAY + 30, accepted=203, per_position=[203, 0, 0])
    roll_up()
    query = f"range=24h&until={NOW}&against=before"
    data = data_of(as_alice, release, query)
    assert data["against"]["to"] == data["from"]
    assert data["against"]["totals"]["mean_acceptance_length"] == 2.0
    page = page_of(as_alice, release, query)
    first = words(page, "[aria-labelledby=h-against] tbody tr")
    assert first == "Mean acceptance length 3.00 2.00 up +50 %"
    assert "against=before" in attribute(page, ".choice a", "href")
    # Any other time: as long as the range, by its end alone, in the person's zone.
    form = page.select_one("form:has([name=against_to])")
    assert form
    assert {one["name"] for one in form.select("[type=hidden]")} == {"range", "until"}
    other = data_of(as_alice, release, f"range=24h&until={NOW}&against_to={NOW - DAY}")
    assert other["against"]["to"] == data["against"]["to"]
    assert other["against"]["totals"] == data["against"]["totals"]


def test_two_revisions(as_alice: Client, release: Release, replica: Replica) -> None:
    """The other release's own last hours, without what ran beside it."""
    old = ReleaseFactory.create(
        deployment=release.deployment,
        number=2,
        state=ReleaseState.STOPPED,
        live_at=datetime.fromtimestamp(NOW - 60 * DAY, tz=UTC),
        ended_at=datetime.fromtimestamp(NOW - 40 * DAY, tz=UTC),
        plan__method="mtp",
        plan__num_speculative_tokens=1,
    )
    was = ReplicaFactory.create(release=old, role=Role.DECODE, rank=0)
    sample(was, 40 * DAY + 60, accepted=60, drafted=100, num_drafts=100)
    sample(replica, 30)
    query = f"range=24h&until={NOW}&against=2"
    page = page_of(as_alice, release, query)
    assert "release 2 (r" in words(page, "[aria-labelledby=h-against] header")
    first = words(page, "[aria-labelledby=h-against] tbody tr")
    assert first == "Mean acceptance length 3.00 1.60 up +88 %"
    whole = page_of(as_alice, release, f"from={NOW - 50 * DAY}&to={NOW}")
    assert "Setting changed: MTP ×1 → EAGLE-3 ×3" in whole.get_text(  # noqa: RUF001
        " ", strip=True
    )


def test_the_band_is_what_was_usual_in_the_week_before(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """Hours from 2.0 to 3.0 tokens a step: the tenth and ninetieth percentile of them."""
    for hour in range(21):
        accepted = 200 + 10 * hour
        shares = [accepted - 200, 100, 100]
        sample(
            replica,
            DAY + hour * HOUR + 1800,
            accepted=accepted,
            num_drafts=200,
            per_position=shares,
        )
    query = f"range=24h&until={NOW}"
    low, high = data_of(as_alice, release, query)["baseline"]["mean_acceptance_length"]
    assert (low, high) == (pytest.approx(2.1), pytest.approx(2.9))
    week = data_of(as_alice, release, f"range=7d&until={NOW}")["baseline"]
    assert week == {"hours": 0, "mean_acceptance_length": None, "acceptance_rate": None}
    assert "No usual band" in page_of(as_alice, release, f"range=7d&until={NOW}").text


def test_the_file_has_the_rows_of_the_table(
    as_alice: Client, as_charlie: Client, release: Release, replica: Replica
) -> None:
    sample(replica, 30)
    page = page_of(as_alice, release, f"range=1h&until={NOW}")
    address = attribute(page, ".course ~ details p a", "href")
    assert as_charlie.get(address).status_code == 404
    answer = as_alice.get(address)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 60
    assert rows[-1]["state"] == "drafted"
    assert (rows[-1]["accepted"], rows[-1]["accepted_at_1"]) == ("406", "183")
    assert (rows[0]["accepted"], rows[0]["state"]) == ("", "not_seen")


def test_silence_stands_in_the_head_and_over_the_figures(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """A live deployment that nobody hears of is not shown as live and healthy."""
    sample(replica, 30)
    hours_ago = timezone.now() - timedelta(hours=3)
    AcceptanceStanding.objects.update(heard_at=hours_ago)
    page = page_of(as_alice, release, "range=24h")
    assert "No data since" in words(page, ".facts dd")
    assert "No data since" in words(page, ".silence")
    assert words(page, ".verdict").startswith("No data")
    before = page_of(as_alice, release, f"range=1h&until={NOW}")
    assert words(before, ".verdict").startswith("Healthy")
    assert before.select(".silence") == []


def test_queries_do_not_grow_with_choices(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """Comparing and choosing reads in the same statements."""
    for place in range(5):
        one = ReplicaFactory.create(release=release, role=Role.DECODE, rank=place + 1)
        sample(one, 30 + place)
        LogCursorFactory.create(replica=one, read_at=timezone.now())
    path = f"/deployments/{release.deployment_id}/acceptance/"
    query = f"?range=30d&until={NOW}&against=week&only=decode"
    assert queries_for(as_alice, f"{path}{query}") <= 12


def test_a_page_of_now_renews_itself_and_one_of_a_fixed_time_does_not(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    path = f"/deployments/{release.deployment_id}/"
    region = f"#acceptance-{release.deployment_id}"
    page = parsed(as_alice.get(f"{path}?range=1h&only=decode"))
    assert attribute(page, region, "hx-trigger") == "every 15s"
    assert "Newest data" in words(page, region)
    again = attribute(page, region, "hx-get")
    assert "until" not in again
    assert "range=1h&only=decode&v=" in again
    fixed = page_of(as_alice, release, f"range=1h&until={NOW}")
    assert fixed.select("[hx-trigger^=every]") == []
    assert attribute(fixed, f"{region} .source a[href*=range]", "href").endswith(
        "?range=1h"
    )
    Release.objects.update(state=ReleaseState.STOPPED)
    assert parsed(as_alice.get(path)).select("[hx-trigger^=every]") == []


def test_a_poll_gets_what_renews_itself_only_when_something_differs(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    path = f"/deployments/{release.deployment_id}/acceptance/?range=30d"
    region = f"#acceptance-{release.deployment_id}"
    again = attribute(parsed(as_alice.get(path)), region, "hx-get")
    assert as_alice.get(again, headers=HTMX).status_code == 204
    AcceptanceSampleFactory.create(replica=replica, timestamp_ns=time.time_ns())
    answer = as_alice.get(again, headers=HTMX)
    assert "HX-Request" in answer.headers["Vary"]
    body = parsed(answer).body
    assert body is not None
    assert [one.get("id") for one in body.find_all(recursive=False)] == [region[1:]]
    assert attribute(body, region, "data-stamp") not in again


def test_a_replica_that_is_not_read_is_named_over_the_figures(
    as_alice: Client, release: Release, replica: Replica
) -> None:
    """The others are heard of, so the deployment is not silent."""
    other = ReplicaFactory.create(release=release, role=Role.DECODE, rank=1)
    LogCursorFactory.create(replica=replica, read_at=timezone.now())
    long_ago = timezone.now() - timedelta(hours=2)
    LogCursorFactory.create(replica=other, read_at=long_ago)
    path = f"/deployments/{release.deployment_id}/"
    said = [one.text for one in parsed(as_alice.get(path)).select(".silence li")]
    assert len(said) == 1
    assert said[0].startswith(f"decode-1, {other.host.name}, since")
    LogCursor.objects.filter(replica=other).update(read_at=timezone.now())
    assert parsed(as_alice.get(path)).select(".silence") == []

"""The log page: what it shows and to whom, its parts, and that log text does nothing."""

import time
from typing import Any
from urllib.parse import urlencode

import pytest
from bs4 import Tag
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext

from deployments.models import (
    Cluster,
    Deployment,
    LogRequest,
    LogRun,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
    User,
)
from tests.factories import DeploymentFactory, ReplicaFactory, UserFactory
from tests.log_rows import ERROR, INFO, METRICS, WARNING, add_lines, tail_with
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.conftest import logged_in
from tests.views.page_parts import attribute, words
from tests.views.pages import HTMX, parsed, queries_for

CANARY = "<script>alert('canary')</script> <b hx-get=/x hx-trigger=load>&amp;"


@pytest.fixture
def deployment(cluster: Cluster, alice: User) -> Deployment:
    row: Deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    return row


@pytest.fixture
def release(deployment: Deployment) -> Release:
    value = plan_value()
    return released(stored(deployment, value), value, ReleaseState.LIVE)


@pytest.fixture
def replica(release: Release) -> Replica:
    return release.replicas.select_related("host", "release").get()


def address(deployment: Deployment, part: str = "", **query: object) -> str:
    """The address of the page or of one of its parts."""
    return f"/deployments/{deployment.pk}/logs/{part}?{urlencode(query, doseq=True)}"


def region(client: Client, path: str) -> Tag:
    """The page, parsed."""
    return parsed(client.get(path))


def shown(client: Client, path: str) -> list[str]:
    """The texts of the lines that a page shows."""
    found = parsed(client.get(path)).select(".log__line .log__text")
    return [line.get_text() for line in found]


def test_strangers_see_and_ask_for_nothing(
    client: Client, as_charlie: Client, deployment: Deployment, replica: Replica
) -> None:
    for part in ("", "lines/", "download/"):
        assert client.get(address(deployment, part)).status_code == 302
        assert as_charlie.get(address(deployment, part)).status_code == 404
    assert as_charlie.post(address(deployment, "tail/")).status_code == 404
    assert client.post(address(deployment, "tail/")).status_code == 302
    assert not LogRequest.objects.exists()


def test_reading_and_asking_have_methods_of_their_own(
    as_alice: Client, deployment: Deployment
) -> None:
    for part in ("", "lines/", "download/"):
        assert as_alice.post(address(deployment, part)).status_code == 405
    assert as_alice.get(address(deployment, "tail/")).status_code == 405


def test_a_member_without_roles_asks_and_reads(
    deployment: Deployment, replica: Replica
) -> None:
    viewer = UserFactory.create(username="viewer")
    deployment.cluster.team.memberships.create(user=viewer)
    client = logged_in(viewer)
    answer = client.post(address(deployment, "tail/"), headers=HTMX)
    assert (answer.status_code, answer.content) == (204, b"")
    assert LogRequest.objects.get().replica == replica
    assert "Logs" in words(region(client, address(deployment)), ".tabs [aria-current]")


def test_without_scripts_asking_leads_back_to_what_was_shown(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    answer = as_alice.post(
        address(deployment, "tail/"), {"replica": str(replica.pk), "run": "previous"}
    )
    assert answer.status_code == 302
    back = f"/deployments/{deployment.pk}/logs/?replica={replica.pk}&run=previous"
    assert answer.headers["Location"] == back
    assert LogRequest.objects.get().run == LogRun.PREVIOUS


def test_a_replica_of_another_deployment_is_not_asked_for(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    foreign = ReplicaFactory.create()
    as_alice.post(address(deployment, "tail/"), {"replica": str(foreign.pk)})
    assert not LogRequest.objects.filter(replica=foreign).exists()
    page = as_alice.get(address(deployment, replica=foreign.pk))
    assert page.status_code == 422
    assert foreign.container_name.encode() not in page.content


def test_a_deployment_without_containers_says_so(
    as_alice: Client, deployment: Deployment
) -> None:
    page = region(as_alice, address(deployment))
    assert "no log to read" in words(page, ".empty")
    assert page.select_one("[data-log-pane]") is None
    assert as_alice.get(address(deployment, "lines/")).status_code == 200


def test_a_log_that_nobody_asked_for_says_so(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    page = region(as_alice, address(deployment))
    assert "Nobody has asked" in words(page, ".log-state")
    assert attribute(page, "#log-keep", "hx-post").endswith("/logs/tail/")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"problem": "unreachable"}, "The host does not answer"),
        ({"problem": "gone"}, "The container was removed"),
        ({"problem": "no_earlier_run"}, "started once only"),
        ({"problem": "engine_refused"}, "does not give this log out"),
        ({"ended": True}, "The container has ended"),
        ({"filled_at": None}, "lines come within seconds"),
    ],
)
def test_what_is_to_be_known_of_a_log_stands_above_it(
    columns: dict[str, Any],
    sentence: str,
    as_alice: Client,
    deployment: Deployment,
    replica: Replica,
) -> None:
    tail_with(replica, "kept line", **columns)
    page = region(as_alice, address(deployment))
    assert sentence in words(page, ".log-state")
    assert "kept line" in words(page, ".log")


def test_log_text_is_inert(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail_with(replica, CANARY)
    for path in (address(deployment), address(deployment, q="canary")):
        page = region(as_alice, path)
        (line,) = page.select(".log__line .log__text")
        assert line.get_text() == CANARY
        assert line.select("script, b, [hx-get]") == []
        assert page.select_one(".log[hx-disable]") is not None
    poll = as_alice.get(address(deployment, "lines/"), headers=HTMX)
    assert b"<script" not in poll.content
    assert b"<b hx-get" not in poll.content


def test_level_search_and_layout_stand_in_the_address(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail_with(replica, INFO, WARNING, ERROR)
    assert shown(as_alice, address(deployment)) == [INFO, WARNING, ERROR]
    assert shown(as_alice, address(deployment, level="WARNING")) == [WARNING, ERROR]
    path = address(deployment, q=r"pid=\d\)", level="ERROR")
    page = region(as_alice, path)
    assert [mark.get_text() for mark in page.select("mark")] == ["pid=7)"]
    assert "1 of 3 lines match" in words(page, ".log-state")
    assert attribute(page, "#id_q", "value") == r"pid=\d\)"
    assert "q=pid" in attribute(page, "a[href*=download]", "href")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "a “(” is never closed"),
        ("(?=a)", "can take for ever"),
        ("a" * 201, "at most 200 characters"),
        ("{{}}(", "This search pattern cannot be used"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_explained_in_one_sentence(
    pattern: str,
    why: str,
    as_alice: Client,
    deployment: Deployment,
    replica: Replica,
) -> None:
    tail_with(replica, INFO)
    answer = as_alice.get(address(deployment, q=pattern))
    assert answer.status_code == 422
    assert why in words(parsed(answer), ".error-summary")
    assert words(parsed(answer), "#id_q_error").count(". ") == 0
    assert shown(as_alice, address(deployment, q=pattern)) == [INFO]


def test_levels_are_named_in_the_persons_language(
    as_alice: Client, alice: User, deployment: Deployment, replica: Replica
) -> None:
    with translation.override("zh-hans"):
        expected = gettext("{level} and above").format(level="ERROR")
    User.objects.filter(pk=alice.pk).update(language="zh-hans")
    page = region(as_alice, address(deployment))
    assert words(page, "#id_level option[value=ERROR]") == expected


def test_the_previous_run_and_an_earlier_releases_replica_can_be_read(
    as_alice: Client, deployment: Deployment, release: Release, replica: Replica
) -> None:
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.STOPPED)
    value = plan_value(number=2)
    newer = released(stored(deployment, value), value, ReleaseState.LIVE, number=2)
    tail_with(replica, "old release")
    tail_with(replica, "old run", run=LogRun.PREVIOUS)
    tail_with(newer.replicas.get(), "new release")
    assert shown(as_alice, address(deployment)) == ["new release"]
    assert shown(as_alice, address(deployment, replica=replica.pk)) == ["old release"]
    before = address(deployment, replica=replica.pk, run="previous")
    assert shown(as_alice, before) == ["old run"]
    labels = region(as_alice, address(deployment)).select("#id_replica label")
    assert [" ".join(one.get_text().split()) for one in labels] == [
        "release 2: combined 0 on gpu-1",
        "release 1: combined 0 on gpu-1",
    ]
    Replica.objects.filter(pk=replica.pk).update(state=ReplicaState.REMOVED)
    assert len(region(as_alice, address(deployment)).select("#id_replica label")) == 1


def test_several_replicas_side_by_side_or_merged(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    other = ReplicaFactory.create(release=replica.release, host=replica.host, rank=1)
    tail_with(replica, "a0", "a1")
    tail_with(other, "b0")
    both = [replica.pk, other.pk]
    merged = region(as_alice, address(deployment, replica=both))
    assert len(merged.select("[data-log-pane]")) == 1
    assert words(merged, ".log__line b") == "1/combined 0"
    side = region(as_alice, address(deployment, replica=both, layout="side"))
    assert [words(one, "h2") for one in side.select("[data-log-pane]")] == [
        "combined 0 on gpu-1",
        "combined 1 on gpu-1",
    ]


def test_five_replicas_are_too_many(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    more = [
        ReplicaFactory.create(release=replica.release, host=replica.host).pk
        for _ in range(4)
    ]
    answer = as_alice.get(address(deployment, replica=[replica.pk, *more]))
    assert answer.status_code == 422
    assert "Choose 4 replicas at most" in words(parsed(answer), ".error-summary")


def polled(client: Client, deployment: Deployment, page: Tag) -> Any:
    """The answer to the poll that a page would send."""
    form = page.select_one("form[id^=log-poll]")
    assert form is not None
    fields = {str(one["name"]): str(one["value"]) for one in form.select("input")}
    return client.get(address(deployment, "lines/", **fields), headers=HTMX)


def test_a_poll_gets_only_what_is_new(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, "one", "two")
    page = region(as_alice, address(deployment))
    answer = polled(as_alice, deployment, page)
    assert answer.status_code == 204
    add_lines(tail, "three")
    answer = polled(as_alice, deployment, page)
    assert "HX-Reswap" not in answer.headers
    part = parsed(answer)
    assert [one.get_text() for one in part.select(".log__text")] == ["three"]
    assert attribute(part, ".log-state", "hx-swap-oob") == "outerHTML"
    assert attribute(part, "[name=cursor]", "value").endswith(".3")
    assert attribute(part, "[name=v]", "value") != attribute(page, "[name=v]", "value")


def test_a_poll_keeps_to_the_filter(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, ERROR)
    page = region(as_alice, address(deployment, level="ERROR"))
    add_lines(tail, INFO, ERROR)
    part = parsed(polled(as_alice, deployment, page))
    assert [one.get_text() for one in part.select(".log__text")] == [ERROR]


def test_a_tail_that_the_page_does_not_know_replaces_everything(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, "old")
    page = region(as_alice, address(deployment))
    tail.request.delete()
    tail_with(replica, "new one", "new two")
    answer = polled(as_alice, deployment, page)
    assert answer.headers["HX-Reswap"] == "innerHTML"
    found = parsed(answer).select(".log__text")
    assert [one.get_text() for one in found] == ["new one", "new two"]


@pytest.mark.parametrize("cursor", ["", "x", "a.b,c.٣", "." * 500, "x." + "9" * 400])
def test_an_odd_cursor_is_no_cursor(
    cursor: str, as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail_with(replica, "one")
    answer = as_alice.get(address(deployment, "lines/", cursor=cursor))
    assert answer.status_code == 200
    assert b"one" in answer.content


def test_the_download_is_plain_text_and_keeps_to_the_filter(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail_with(replica, INFO, CANARY, ERROR)
    answer = as_alice.get(address(deployment, "download/"))
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    name = 'attachment; filename="chat.log.txt"'
    assert answer.headers["Content-Disposition"] == name
    head, *lines = answer.content.decode().splitlines()
    assert head.startswith("# chat: combined 0 on gpu-1; current run; read 20")
    assert head.endswith("; 3 lines")
    assert lines[0] == f"2026-11-29T18:00:00.000000000Z {INFO}"
    assert CANARY in lines[1]
    only = as_alice.get(address(deployment, "download/", level="ERROR"))
    assert only.content.count(b"\n") == 2


def test_a_download_of_nothing_says_why(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    text = as_alice.get(address(deployment, "download/")).content.decode()
    assert "open the log page, then download" in text


def test_times_are_in_the_persons_zone(
    as_alice: Client, alice: User, deployment: Deployment, replica: Replica
) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Shanghai")
    tail_with(replica, "one")
    page = region(as_alice, address(deployment))
    assert words(page, ".log__line time").endswith("02:00:00.000")
    assert "Asia/Shanghai" in words(page, ".log-bar__zone")


def test_an_acceptance_line_has_its_values_as_a_described_tip(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    tail_with(replica, METRICS)
    page = region(as_alice, address(deployment))
    tip = page.select_one(f"#{attribute(page, '.log__chip', 'aria-describedby')}")
    assert tip is not None
    assert tip["role"] == "tooltip"
    said = " ".join(tip.get_text(" ").split())
    assert "67 % acceptance rate" in said.replace("\u00a0", " ")
    assert "3.00 mean acceptance length" in said
    assert "406 accepted of 609 drafted tokens" in said
    assert "by position: 90 % , 65 % , 45 %" in said.replace("\u00a0", " ")


def test_pages_are_compressed_and_small_and_cheap(
    as_alice: Client, deployment: Deployment, replica: Replica
) -> None:
    texts = [INFO.format(number) for number in range(900)] + [METRICS] * 100
    tail_with(replica, *texts)
    path = address(deployment, level="INFO", q="server|metrics")
    assert queries_for(as_alice, path) <= 12
    assert queries_for(as_alice, address(deployment, "lines/")) <= 8
    begin = time.process_time()
    answer = as_alice.get(path, headers={"Accept-Encoding": "gzip"})
    assert time.process_time() - begin < 0.6
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.content) < 60_000

"""The small tail on the page of a release: the replica in focus, while the release goes on."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    CHANGING_STATES,
    Cluster,
    Host,
    LogRequest,
    Reachability,
    Release,
    ReleaseState,
    ReplicaState,
    User,
)
from deployments.selectors.logs import in_focus
from tests.factories import DeploymentFactory, ReplicaFactory
from tests.log_rows import INFO, tail_with
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import HTMX, parsed, queries_for


@pytest.fixture
def release(cluster: Cluster, alice: User) -> Release:
    """A release whose container has started."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value()
    return released(stored(deployment, value), value, ReleaseState.STARTING)


def test_strangers_ask_for_nothing(
    client: Client, as_charlie: Client, as_alice: Client, release: Release
) -> None:
    path = f"/releases/{release.pk}/tail/"
    assert client.post(path).status_code == 302
    assert as_charlie.post(path).status_code == 404
    assert as_alice.get(path).status_code == 405
    assert not LogRequest.objects.exists()


def test_the_tail_asks_and_shows_the_last_lines(
    as_bob: Client, release: Release
) -> None:
    replica = release.replicas.get()
    path = f"/releases/{release.pk}/tail/"
    first = parsed(as_bob.post(path, headers=HTMX))
    assert LogRequest.objects.get().replica == replica
    assert attribute(first, "form", "hx-trigger") == "every 2s"
    LogRequest.objects.all().delete()
    tail_with(replica, *[INFO.format(number) for number in range(40)])
    answer = parsed(as_bob.post(path, headers=HTMX))
    lines = answer.select(".log__text")
    assert len(lines) == 12
    assert lines[-1].get_text() == INFO.format(39)
    again = as_bob.post(
        path, {"v": attribute(answer, "[name=v]", "value")}, headers=HTMX
    )
    assert again.status_code == 204


def test_without_scripts_asking_leads_back_to_the_release(
    as_alice: Client, release: Release
) -> None:
    answer = as_alice.post(f"/releases/{release.pk}/tail/")
    assert answer.headers["Location"] == f"/releases/{release.pk}/"


@pytest.mark.parametrize("state", list(ReleaseState))
def test_the_tail_stands_on_the_page_while_the_release_goes_on_or_has_failed(
    state: ReleaseState, as_alice: Client, release: Release
) -> None:
    live_at = release.created_at if state == ReleaseState.LIVE else None
    Release.objects.filter(pk=release.pk).update(
        state=state, cause="It failed.", live_at=live_at
    )
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    shown = {*CHANGING_STATES, ReleaseState.FAILED, ReleaseState.BLOCKED}
    assert bool(page.select(f"#tail-{release.pk}")) == (state in shown)


def fail(release: Release) -> str:
    """Let a release fail; returns the address of its tail."""
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.FAILED, cause="It failed."
    )
    return f"/releases/{release.pk}/tail/"


def test_the_log_of_a_failed_release_is_read_once(
    as_alice: Client, release: Release
) -> None:
    path = fail(release)
    replica = release.replicas.get()
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert attribute(page, f"#tail-{release.pk}", "hx-trigger") == "every 2s"
    as_alice.post(path, headers=HTMX)
    assert LogRequest.objects.get().replica == replica
    LogRequest.objects.all().delete()
    tail_with(replica, INFO.format(1))
    form = parsed(as_alice.post(path, headers=HTMX)).select_one("form")
    assert form is not None
    assert "hx-trigger" not in form.attrs
    assert INFO.format(1) in form.get_text()


def test_the_log_of_a_removed_container_is_not_asked_for(
    as_alice: Client, release: Release
) -> None:
    """It went with it; and what it had not shown by then it never will."""
    fail(release)
    release.replicas.update(state=ReplicaState.REMOVED)
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert not page.select(f"#tail-{release.pk}")
    assert "it ended before its log showed it" in page.get_text()


def test_a_failed_release_gives_up_on_a_log_that_nobody_reads(
    as_alice: Client, release: Release
) -> None:
    path = fail(release)
    as_alice.post(path, headers=HTMX)
    LogRequest.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    form = parsed(as_alice.post(path, headers=HTMX)).select_one("form")
    assert form is not None
    assert "hx-trigger" not in form.attrs
    assert "No worker has read this log yet" in form.get_text()


def test_a_host_that_is_known_to_be_silent_is_named_at_once(
    as_alice: Client, release: Release
) -> None:
    path = fail(release)
    as_alice.post(path, headers=HTMX)
    assert b"lines come within seconds" in as_alice.post(path, headers=HTMX).content
    Host.objects.update(
        reachability=Reachability.UNREACHABLE, unreachable_since=timezone.now()
    )
    assert (
        b"The host does not answer: lines" in as_alice.post(path, headers=HTMX).content
    )


def test_a_stopped_release_is_not_asked_for_any_more(
    as_alice: Client, release: Release
) -> None:
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.STOPPED)
    as_alice.post(f"/releases/{release.pk}/tail/", headers=HTMX)
    assert not LogRequest.objects.exists()


def test_before_there_is_a_container_there_is_no_log(
    as_alice: Client, release: Release
) -> None:
    release.replicas.update(container_id="")
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert "No container has been created" in words(page, f"#tail-{release.pk}")
    as_alice.post(f"/releases/{release.pk}/tail/", headers=HTMX)
    assert not LogRequest.objects.exists()


def test_focus_is_on_what_is_not_ready_and_never_on_a_router(release: Release) -> None:
    release.replicas.all().delete()
    rows = [
        ReplicaFactory.create(release=release, role=role, rank=rank, ready=ready)
        for role, rank, ready in (
            ("router", 0, False),
            ("prefill", 0, False),
            ("decode", 0, True),
            ("decode", 1, False),
        )
    ]
    assert in_focus(rows) == rows[3]
    rows[1].state = ReplicaState.EXITED
    assert in_focus(rows) == rows[1]
    assert in_focus([]) is None


def test_the_page_of_a_release_stays_cheap(as_alice: Client, release: Release) -> None:
    tail_with(release.replicas.get(), INFO)
    assert queries_for(as_alice, f"/releases/{release.pk}/") <= 12

"""The page of a release: timeline, proof, cause, and the part that is polled."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import Tag
from django.test import Client
from django.utils import timezone

from deployments.models import (
    CHANGING_STATES,
    Cluster,
    Command,
    CommandState,
    EventKind,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
    User,
)
from deployments.services.rollout.journal import Step
from tests.factories import (
    BookingFactory,
    CommandFactory,
    DeploymentFactory,
    ReleaseEventFactory,
)
from tests.host_rows import QueuedBookingFactory
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import HTMX, parsed, queries_for

CANARY = "<script>alert('canary')</script>"
STILL = tuple(state for state in ReleaseState if state not in CHANGING_STATES)


@pytest.fixture
def release(cluster: Cluster, alice: User) -> Release:
    """A release that is getting its image."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value()
    row = released(stored(deployment, value), value, ReleaseState.PULLING)
    command = CommandFactory.create(
        release=row,
        state=CommandState.RUNNING,
        fence=1,
        lease_until=timezone.now() + timedelta(minutes=5),
    )
    assert command.kind == "deploy"
    return row


def put_in(release: Release, state: ReleaseState, **columns: object) -> None:
    """Leave the release as the executor would; nothing is left to do for its command."""
    Release.objects.filter(pk=release.pk).update(
        state=state,
        cause="It exited with code 1."
        if state in {ReleaseState.FAILED, ReleaseState.BLOCKED}
        else "",
        live_at=timezone.now() if state == ReleaseState.LIVE else None,
        **columns,
    )
    if state not in CHANGING_STATES:
        Command.objects.update(state=CommandState.DONE)


def region(client: Client, release: Release) -> Tag:
    """The part that is polled, as the whole page shows it."""
    page = parsed(client.get(f"/releases/{release.pk}/"))
    found = page.select_one(f"#progress-{release.pk}")
    assert found is not None
    return found


def test_strangers_see_nothing(
    client: Client, as_charlie: Client, release: Release
) -> None:
    for path in ("", "progress/"):
        assert client.get(f"/releases/{release.pk}/{path}").status_code == 302
        assert as_charlie.get(f"/releases/{release.pk}/{path}").status_code == 404


def test_page_and_progress_are_read_only(as_alice: Client, release: Release) -> None:
    for path in ("", "progress/"):
        assert as_alice.post(f"/releases/{release.pk}/{path}").status_code == 405


@pytest.mark.parametrize("state", CHANGING_STATES, ids=str)
def test_moving_release_polls(
    as_alice: Client, release: Release, state: ReleaseState
) -> None:
    put_in(release, state)
    part = region(as_alice, release)
    assert part["hx-trigger"] == "every 2s"
    assert part["hx-swap"] == "outerMorph"
    assert part["hx-target"] == f"#{part['id']}"


@pytest.mark.parametrize("state", STILL, ids=str)
def test_release_that_does_not_move_does_not_poll(
    as_alice: Client, release: Release, state: ReleaseState
) -> None:
    put_in(release, state)
    assert [name for name in region(as_alice, release).attrs if "hx" in name] == []
    polled = parsed(as_alice.get(f"/releases/{release.pk}/progress/", headers=HTMX))
    assert polled.select("[hx-trigger], [hx-get]") == []


def test_failed_release_polls_while_its_containers_are_removed(
    as_alice: Client, release: Release
) -> None:
    put_in(release, ReleaseState.FAILED)
    CommandFactory.create(release=release, kind="remove")
    assert region(as_alice, release)["hx-trigger"] == "every 2s"


def test_poll_answers_204_until_something_changes(
    as_alice: Client, release: Release
) -> None:
    address = str(region(as_alice, release)["hx-get"])
    assert as_alice.get(address, headers=HTMX).status_code == 204
    ReleaseEventFactory.create(release=release, step="PULL", message="Layer 3 of 9.")
    changed = as_alice.get(address, headers=HTMX)
    assert changed.status_code == 200
    roots = [child for child in parsed(changed).body.children if isinstance(child, Tag)]  # type: ignore[union-attr]
    assert [root["id"] for root in roots] == [
        f"progress-{release.pk}",
        f"journal-{release.pk}",
    ]
    assert "Layer 3 of 9." in roots[1].get_text()
    assert "Layer 3 of 9." in roots[0].get_text()
    again = str(roots[0]["hx-get"])
    assert parse_qs(urlsplit(again).query) != parse_qs(urlsplit(address).query)
    assert as_alice.get(again, headers=HTMX).status_code == 204


def test_bytes_of_a_pull_are_a_change(as_alice: Client, release: Release) -> None:
    event = ReleaseEventFactory.create(
        release=release,
        step="PULL",
        kind="intent",
        detail={"current_bytes": 1 << 30, "total_bytes": 4 << 30},
    )
    part = region(as_alice, release)
    assert attribute(part, "progress", "value") == str(1 << 30)
    assert "1 GiB of 4 GiB" in words(part, ".pull").replace("\N{NO-BREAK SPACE}", " ")
    event.detail = {**event.detail, "current_bytes": 2 << 30}
    event.save()
    assert as_alice.get(str(part["hx-get"]), headers=HTMX).status_code == 200


def test_last_poll_brings_the_actions_of_the_new_state(
    as_alice: Client, release: Release
) -> None:
    address = str(region(as_alice, release)["hx-get"])
    put_in(release, ReleaseState.LIVE)
    answer = parsed(as_alice.get(address, headers=HTMX))
    assert answer.select_one(
        f"#actions-{release.pk}[hx-swap-oob] form[action$='stop/']"
    )


def test_works_without_script(as_alice: Client, release: Release) -> None:
    part = region(as_alice, release)
    assert words(part, "noscript a") == "Reload"
    put_in(release, ReleaseState.LIVE)
    assert region(as_alice, release).select("noscript") == []


def test_timeline_says_what_is_done_and_what_comes(
    as_alice: Client, release: Release
) -> None:
    for sequence, step in enumerate(("VALIDATE", "BOOK", "PULL"), start=1):
        ReleaseEventFactory.create(
            release=release, sequence=sequence, step=step, message=f"{step} says so."
        )
    part = region(as_alice, release)
    states = [
        str(line.get_attribute_list("class")[0]) for line in part.select(".phases li")
    ]
    assert states == ["done", "done", "current", "later", "later", "later", "later"]
    assert "BOOK says so." in words(part, ".phases li:nth-of-type(2)")
    assert words(part, "[aria-current=step] .name") == "Getting the image"
    assert part.select("[aria-live=polite]")


def test_failed_release_puts_the_cause_on_top(
    as_alice: Client, release: Release
) -> None:
    ReleaseEventFactory.create(release=release, step="START", kind="failed")
    put_in(release, ReleaseState.FAILED, next_action="Mount the drafter.")
    part = region(as_alice, release)
    first = next(child for child in part.children if isinstance(child, Tag))
    assert first.select_one(".cause") is not None
    assert words(first, "h2") == "It exited with code 1."
    assert "Mount the drafter." in first.get_text()
    assert words(part, ".phases .failed .name").startswith("Starting")


def test_what_failed_opens_in_the_planner(
    as_alice: Client, as_bob: Client, release: Release
) -> None:
    """Those who may submit are led to the wizard with the plan in it."""
    ReleaseEventFactory.create(
        release=release,
        step="START",
        kind="failed",
        message="It exited with code 1.",
        detail={
            "log": [f"line {n}" for n in range(40)] + ["out of memory"],
            "evidence": "out of memory",
        },
    )
    ReleaseEventFactory.create(
        release=release, step="UNDO", kind="done", message="It was removed again."
    )
    put_in(release, ReleaseState.FAILED)
    part = region(as_alice, release)
    assert words(part, ".cause h2") == "It exited with code 1."
    assert "It was removed again." in words(part, ".cause")
    assert words(part, ".cause .bad-line") == "out of memory"
    assert len(words(part, ".cause pre").split("line ")) == 10
    address = attribute(part, ".cause .button.primary", "href")
    assert address.startswith("/plan/?step=review")
    assert f"name={release.deployment.name}" in address
    assert region(as_bob, release).select(".cause .button.primary") == []


def test_live_release_with_a_warning_shows_it(
    as_alice: Client, release: Release
) -> None:
    put_in(release, ReleaseState.LIVE, warning="Speculation is silently off.")
    assert words(region(as_alice, release), ".cause.warn h2") == (
        "Speculation is silently off."
    )


@pytest.mark.parametrize(
    ("method", "count", "said"),
    [
        ("mtp", 3, "as planned"),
        ("deepseek_mtp", 3, "as planned"),
        ("mtp", 1, "differs"),
        ("ngram", 3, "differs"),
        ("", None, "no proof yet"),
    ],
)
def test_proof_compares_the_log_with_the_plan(
    as_alice: Client, release: Release, method: str, count: int | None, said: str
) -> None:
    Replica.objects.update(
        verified_method=method, verified_num_speculative_tokens=count
    )
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert words(page, "[aria-labelledby=h-proof] li .end") == said
    assert "canary" not in words(page, "[aria-labelledby=h-proof] li")
    Replica.objects.update(canary=True)
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert "· canary ·" in words(page, "[aria-labelledby=h-proof] li")


def test_untrusted_text_is_escaped(as_alice: Client, release: Release) -> None:
    ReleaseEventFactory.create(release=release, step="START", message=CANARY)
    Release.objects.update(
        state=ReleaseState.FAILED, cause=CANARY, next_action=CANARY, warning=CANARY
    )
    Replica.objects.update(verified_method="<b>x</b>", container_id="<i>")
    for path in ("", "progress/"):
        content = as_alice.get(f"/releases/{release.pk}/{path}").content.decode()
        assert "<script>alert" not in content
        assert "<b>x</b>" not in content
        assert 'title="<i>"' not in content
        assert content.count("&lt;script&gt;alert(&#x27;canary&#x27;)") >= 4


@pytest.mark.parametrize("path", ["", "progress/"])
def test_takes_few_queries(as_alice: Client, release: Release, path: str) -> None:
    for sequence in range(1, 30):
        ReleaseEventFactory.create(release=release, sequence=sequence, step="PULL")
    assert queries_for(as_alice, f"/releases/{release.pk}/{path}") <= 12


@pytest.mark.parametrize(
    ("state", "code", "word"),
    [
        (ReleaseState.STOPPED, 0, "Stopped"),
        (ReleaseState.STOPPED, 137, "Stopped"),
        (ReleaseState.CANCELLED, 143, "Stopped"),
        (ReleaseState.STOPPED, 1, "Exited"),
        (ReleaseState.LIVE, 0, "Exited"),
        (ReleaseState.FAILED, 0, "Exited"),
    ],
)
def test_a_container_that_obeyed_is_not_shown_as_a_fault(
    state: ReleaseState, code: int, word: str, as_alice: Client, release: Release
) -> None:
    put_in(release, state)
    release.replicas.update(state=ReplicaState.EXITED, exit_code=code)
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    shown = page.select_one(".side tbody td .tone")
    assert shown is not None
    assert word in shown.get_text()
    assert ("bad" in shown["class"]) == (word == "Exited")


def test_the_journal_says_its_steps_in_words(
    as_alice: Client, release: Release
) -> None:
    for number, step in enumerate(Step, start=100):
        ReleaseEventFactory.create(
            release=release, sequence=number, step=step, kind=EventKind.INTENT
        )
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    cells = page.select(f"#journal-{release.pk} tbody td[title]")
    assert {cell["title"] for cell in cells} >= {step.value for step in Step}
    assert not [cell for cell in cells if str(cell["title"]) in cell.get_text()]


def test_the_journal_tells_a_step_that_has_ended_once(
    as_alice: Client, release: Release
) -> None:
    kinds = (EventKind.INTENT, EventKind.FAILED, EventKind.INTENT)
    for number, kind in enumerate((*kinds, EventKind.DONE), start=200):
        ReleaseEventFactory.create(
            release=release, sequence=number, step="PULL", kind=kind
        )
    ReleaseEventFactory.create(
        release=release, sequence=300, step="CREATE", kind=EventKind.INTENT
    )
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    rows = page.select(f"#journal-{release.pk} tbody tr")
    told = [words(row, "td:nth-of-type(3)") for row in rows[-3:]]
    assert told == ["Failed", "Done", "Begins"]


def test_one_that_waits_says_behind_whom_and_its_position(
    as_alice: Client, release: Release, cluster: Cluster, alice: User
) -> None:
    value = plan_value(name="second")
    deployment = DeploymentFactory.create(
        cluster=cluster, name="second", created_by=alice
    )
    waiting = released(stored(deployment, value), value, ReleaseState.QUEUED)
    Release.objects.filter(pk=waiting.pk).update(queued_at=timezone.now(), live_at=None)
    BookingFactory.create(replica=release.replicas.get(), device=0)
    QueuedBookingFactory.create(replica=waiting.replicas.get(), device=0)
    part = region(as_alice, waiting)
    assert "position 1" in words(part, "[aria-labelledby=h-queue]")
    line = words(part, "[aria-labelledby=h-queue] li")
    assert line.startswith("Device 0 of gpu-1: queued behind chat release 1 , which")
    link = attribute(part, "[aria-labelledby=h-queue] li a", "href")
    assert link == f"/releases/{release.pk}/"
    put_in(release, ReleaseState.LIVE)
    CommandFactory.create(release=waiting)
    line = words(region(as_alice, waiting), "[aria-labelledby=h-queue] li")
    assert "It is not being changed: stop it" in line
    assert queries_for(as_alice, f"/releases/{waiting.pk}/") <= 12

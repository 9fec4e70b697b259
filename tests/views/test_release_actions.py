"""What people do with a release: cancel, stop, remove; each once, by an operator, if it fits."""

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    Cluster,
    Command,
    CommandKind,
    CommandState,
    Release,
    ReleaseState,
    User,
)
from deployments.planning.text import sentences, text
from deployments.selectors.restart_notes import restart_note
from tests.factories import BookingFactory, CommandFactory, DeploymentFactory
from tests.plan_rows import released, stored
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed

ACTS = ("again", "cancel", "stop", "remove")


@pytest.fixture
def release(cluster: Cluster, alice: User) -> Release:
    """A live release."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value()
    return released(stored(deployment, value), value, ReleaseState.LIVE)


def put_in(release: Release, state: ReleaseState) -> None:
    """Leave the release in another state."""
    Release.objects.update(state=state, cause="Because.", ended_at=timezone.now())
    release.refresh_from_db()


def offered(client: Client, release: Release) -> list[str]:
    """The acts that the page offers."""
    page = parsed(client.get(f"/releases/{release.pk}/"))
    return [str(form["action"]).split("/")[-2] for form in page.select(".confirm form")]


def key_of(client: Client, release: Release, act: str) -> dict[str, str]:
    """The hidden key of the form, as a browser sends it."""
    page = parsed(client.get(f"/releases/{release.pk}/"))
    return {"key": attribute(page, f"form[action$='{act}/'] [name=key]", "value")}


def act_on(release: Release, act: str) -> str:
    """The address of an act."""
    return f"/releases/{release.pk}/{act}/"


@pytest.mark.parametrize("act", ACTS)
def test_strangers_and_get_are_refused(
    client: Client, as_charlie: Client, as_alice: Client, release: Release, act: str
) -> None:
    assert client.post(act_on(release, act)).status_code == 302
    assert as_charlie.post(act_on(release, act)).status_code == 404
    assert as_alice.get(act_on(release, act)).status_code == 405
    assert not Command.objects.exists()


@pytest.mark.parametrize("act", ACTS)
def test_approver_is_no_operator(as_bob: Client, release: Release, act: str) -> None:
    answer = as_bob.post(act_on(release, act), {"key": str(uuid.uuid4())})
    assert answer.status_code == 403
    assert "Operator" in words(parsed(answer), ".error-summary")
    assert offered(as_bob, release) == []


@pytest.mark.parametrize(
    ("state", "acts"),
    [
        (ReleaseState.LIVE, ["stop"]),
        (ReleaseState.FAILED, ["again", "stop", "remove"]),
        (ReleaseState.BLOCKED, ["again", "stop"]),
        (ReleaseState.STOPPED, ["again", "remove"]),
        (ReleaseState.CANCELLED, ["again", "remove"]),
        (ReleaseState.STOPPING, []),
        (ReleaseState.STARTING, ["cancel"]),
        (ReleaseState.ROLLED_BACK, []),
    ],
)
def test_page_offers_what_the_services_allow(
    as_alice: Client, release: Release, state: ReleaseState, acts: list[str]
) -> None:
    put_in(release, state)
    assert offered(as_alice, release) == acts


@pytest.mark.parametrize("left", [{"container_id": ""}, {"state": "removed"}])
def test_where_no_container_is_left_nothing_is_stopped_or_removed(
    as_alice: Client, release: Release, left: dict[str, str]
) -> None:
    put_in(release, ReleaseState.FAILED)
    release.replicas.update(**left)
    assert offered(as_alice, release) == ["again"]
    BookingFactory.create(
        host=release.replicas.get().host, replica=release.replicas.get(), device=3
    )
    assert offered(as_alice, release) == ["again", "remove"]


@pytest.mark.parametrize("seen", ["exited", "created"])
def test_what_failed_and_does_not_run_is_removed_and_not_stopped(
    as_alice: Client, release: Release, seen: str
) -> None:
    put_in(release, ReleaseState.FAILED)
    release.replicas.update(state=seen)
    assert offered(as_alice, release) == ["again", "remove"]
    page = parsed(as_alice.get(f"/deployments/{release.deployment_id}/"))
    assert page.select("form[action$='stop/']") == []


def test_stop_is_one_command_however_often_it_is_clicked(
    as_alice: Client, release: Release
) -> None:
    sent = key_of(as_alice, release, "stop")
    for _click in range(2):
        answer = as_alice.post(act_on(release, "stop"), sent)
        assert answer.status_code == 302
        assert answer.headers["Location"] == f"/releases/{release.pk}/"
    release.refresh_from_db()
    assert release.state == ReleaseState.STOPPING
    assert Command.objects.get().kind == CommandKind.STOP


def test_remove_needs_a_stopped_release(as_alice: Client, release: Release) -> None:
    refused = as_alice.post(act_on(release, "remove"), {"key": str(uuid.uuid4())})
    assert refused.status_code == 409
    assert "not possible while" in words(parsed(refused), ".error-summary")
    put_in(release, ReleaseState.STOPPED)
    sent = key_of(as_alice, release, "remove")
    assert as_alice.post(act_on(release, "remove"), sent).status_code == 302
    assert Command.objects.get().kind == CommandKind.REMOVE


def test_cancel_asks_the_executor(as_alice: Client, release: Release) -> None:
    assert as_alice.post(act_on(release, "cancel")).status_code == 409
    put_in(release, ReleaseState.STARTING)
    CommandFactory.create(release=release, state=CommandState.READY)
    assert as_alice.post(act_on(release, "cancel")).status_code == 302
    assert Command.objects.get().cancel_requested_at is not None
    assert offered(as_alice, release) == []
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    assert "being cancelled" in words(page, ".facts")


@pytest.mark.parametrize("key", [None, "", "x", "1" * 200])
@pytest.mark.parametrize("act", ["again", "stop", "remove"])
def test_forms_without_a_key_do_nothing(
    as_alice: Client, release: Release, act: str, key: str | None
) -> None:
    sent = {} if key is None else {"key": key}
    answer = as_alice.post(act_on(release, act), sent)
    assert answer.status_code == 422
    assert "out of date" in words(parsed(answer), ".error-summary")
    assert not Command.objects.exists()


def test_every_act_is_a_real_form_with_a_token(
    as_alice: Client, release: Release
) -> None:
    put_in(release, ReleaseState.FAILED)
    page = parsed(as_alice.get(f"/releases/{release.pk}/"))
    for form in page.select(".confirm form"):
        assert form["method"] == "post"
        assert form.select_one("[name=csrfmiddlewaretoken]")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="alice"))
    sent = {"key": str(uuid.uuid4())}
    assert strict.post(act_on(release, "stop"), sent).status_code == 403


def test_a_restart_outside_is_acknowledged_and_what_else_is_said_stays(
    as_alice: Client, as_bob: Client, release: Release
) -> None:
    release.warning = sentences(
        text("It drafts nothing."), restart_note("chat-r1", "gpu-1")
    )
    release.save()
    address = act_on(release, "acknowledge")
    assert (
        parsed(as_bob.get(f"/releases/{release.pk}/")).select_one(
            f"form[action='{address}']"
        )
        is None
    )
    assert as_bob.post(address).status_code == 403
    assert parsed(as_alice.get(f"/releases/{release.pk}/")).select_one(
        f"form[action='{address}']"
    )
    assert as_alice.post(address).status_code == 302
    release.refresh_from_db()
    assert release.warning == "It drafts nothing."
    page = as_alice.get(f"/releases/{release.pk}/").content.decode()
    assert "alice knows of the restarts." in page
    assert as_alice.post(address).status_code == 409

"""The preflight list on the page of a request and of its release."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import (
    DjangoAssertNumQueries,
    DjangoCaptureOnCommitCallbacks,
)

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Preflight,
    PreflightCheck,
    PreflightState,
    ReleaseState,
    RequestState,
    User,
)
from deployments.services.preflight_requests import RUN_PREFLIGHT
from tests.factories import DeploymentFactory
from tests.plan_rows import released, request_for, stored
from tests.plan_values import plan_value
from tests.preflight_rows import PreflightFactory, result
from tests.views.pages import HTMX, parsed, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_row(cluster: Cluster, alice: User) -> ApprovalRequest:
    """An open request of alice."""
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value(name="chat", number=1)
    return request_for(stored(deployment, value), RequestState.OPEN)


def page_of(row: ApprovalRequest) -> str:
    return f"/approvals/{row.pk}/"


def test_operators_and_approvers_have_it_checked_and_the_page_waits(
    as_alice: Client,
    as_bob: Client,
    request_row: ApprovalRequest,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        "deployments.services.waking.current_app.send_task",
        lambda name, *, args, **_options: sent.append((name, args)),
    )
    assert "Not checked yet" in text_of(as_bob.get(page_of(request_row)), "#preflight")
    address = f"{page_of(request_row)}preflight/"
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_bob.post(address)
        as_alice.post(address)
    assert answer["Location"] == f"{page_of(request_row)}#h-preflight"
    row = Preflight.objects.get()
    assert sent == [(RUN_PREFLIGHT, [str(row.pk)])] * 2
    waiting = parsed(as_bob.get(page_of(request_row))).select_one("#preflight")
    assert waiting is not None
    poll = str(waiting["hx-get"])
    assert as_bob.get(poll, headers=HTMX).status_code == 204
    Preflight.objects.update(
        read_at=timezone.now(), results=[result(PreflightCheck.HOST, host="gpu-01")]
    )
    fresh = as_bob.get(poll, headers=HTMX)
    assert "Passed on gpu-01" in text_of(fresh, "#preflight")
    assert "hx-get" not in fresh.content.decode()
    assert "Check again" in text_of(as_bob.get(address), "#preflight")


def test_who_neither_runs_nor_decides_only_reads(
    as_dora: Client, as_charlie: Client, request_row: ApprovalRequest
) -> None:
    address = f"{page_of(request_row)}preflight/"
    assert "Check now" not in text_of(as_dora.get(page_of(request_row)), "#preflight")
    assert as_dora.post(address).status_code == 403
    assert as_charlie.post(address).status_code == 404
    assert not Preflight.objects.exists()


def test_results_are_told_with_fix_and_age_and_old_ones_marked(
    as_alice: Client,
    request_row: ApprovalRequest,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    lately = timezone.now() - timedelta(minutes=2)
    PreflightFactory.create(
        request=request_row,
        asked_at=lately,
        read_at=lately,
        results=[
            result(
                PreflightCheck.DIRECTORIES,
                PreflightState.FAILED,
                "/data/models/eagle is not there on gpu-01, gpu-02.",
                fix="Copy the checkpoint to /data/models/eagle.",
                at=lately,
            ),
            result(PreflightCheck.HOST, host="gpu-01", at=lately),
            result(PreflightCheck.HOST, host="gpu-02", at=lately),
            *(
                result(
                    PreflightCheck.IMAGE,
                    PreflightState.NOTED,
                    "The registry has another image of that name.",
                    host=host,
                    at=lately,
                )
                for host in ("gpu-01", "gpu-02")
            ),
        ],
    )
    with django_assert_max_num_queries(24):
        answer = as_alice.get(page_of(request_row))
    said = text_of(answer, "#preflight")
    assert "1 check would end a release" in said
    assert "/data/models/eagle is not there on gpu-01, gpu-02." in said
    assert "Copy the checkpoint to /data/models/eagle." in said
    assert "Passed on gpu-01, gpu-02" in said
    assert said.count("The registry has another image of that name.") == 1
    assert "Too old" not in said
    old = (timezone.now() - timedelta(minutes=31)).isoformat()
    row = Preflight.objects.get()
    row.results = [{**row.results[1], "at": old}]
    row.save()
    said = text_of(as_alice.get(page_of(request_row)), "#preflight")
    assert "Too old" in said
    assert "A result stands for 30 minutes; a release repeats what is older." in said


def test_the_page_of_a_release_shows_it_and_offers_it_once_nothing_moves(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    value = plan_value(name="chat", number=1)
    release = released(stored(deployment, value), value, ReleaseState.LIVE)
    PreflightFactory.create(
        request=release.request,
        results=[result(PreflightCheck.NAMES, host="gpu-01", sentence="No other.")],
    )
    page = f"/releases/{release.pk}/"
    shown = parsed(as_alice.get(page)).select_one("#preflight")
    assert shown is not None
    assert "No other." in shown.get_text()
    form = shown.select_one("form")
    assert form is not None
    kept = {"release": str(release.pk)}
    answer = as_alice.post(str(form["action"]), kept)
    assert answer["Location"] == f"{page}#h-preflight"
    release.state = ReleaseState.STARTING
    release.save()
    assert "Check again" not in text_of(as_alice.get(page), "#preflight")
    refused = as_alice.post(str(form["action"]), kept, follow=True)
    assert "chat is being changed, and that checks by itself." in text_of(refused)

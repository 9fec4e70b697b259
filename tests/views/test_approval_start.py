"""When a request may start, on its page: asked for by its author, seen by who decides."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import ApprovalRequest, Cluster, Decision, RequestState, User
from tests.factories import DeploymentFactory
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value
from tests.views.page_parts import words
from tests.views.pages import parsed

HOUR = timedelta(hours=1)


@pytest.fixture(name="request_row")
def open_request(cluster: Cluster, alice: User) -> ApprovalRequest:
    """An open request of alice."""
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    return request_for(stored(row, plan_value()))


def path(row: ApprovalRequest, act: str = "") -> str:
    return f"/approvals/{row.pk}/{act}"


def sent(**changes: str) -> dict[str, str]:
    """Tomorrow, for two hours, by itself."""
    start = timezone.now() + 24 * HOUR
    return {
        "starts_itself": "on",
        "start_from": f"{start:%Y-%m-%dT%H:%M}",
        "start_until": f"{start + 2 * HOUR:%Y-%m-%dT%H:%M}",
        **changes,
    }


def test_the_author_asks_and_the_approver_sees_it(
    as_alice: Client, as_bob: Client, request_row: ApprovalRequest
) -> None:
    as_alice.post(path(request_row, "start/"), sent())
    request_row.refresh_from_db()

    assert request_row.starts_itself
    page = parsed(as_bob.get(path(request_row)))
    facts = words(page, ".facts")
    assert "by itself once approved" in facts
    assert sent()["start_from"].replace("T", " ") in facts
    assert "UTC" in facts
    assert "starts by itself" in words(page, ".decide")
    assert page.select('form[action$="/start/"]') == []
    digest = {"digest": request_row.digest, "decision": Decision.APPROVE.value}
    assert as_bob.post(path(request_row, "decide/"), digest).status_code == 409
    field = page.select_one('.decide input[name="start"]')
    assert field is not None
    shown = {**digest, "start": str(field["value"])}
    assert as_bob.post(path(request_row, "decide/"), shown).status_code == 302
    request_row.refresh_from_db()
    assert request_row.state == RequestState.APPROVED
    assert parsed(as_alice.get(path(request_row))).select(".decide") == []


def test_others_may_not_ask(
    as_bob: Client, as_charlie: Client, request_row: ApprovalRequest
) -> None:
    assert as_bob.post(path(request_row, "start/"), sent()).status_code == 403
    assert as_charlie.post(path(request_row, "start/"), sent()).status_code == 404
    request_row.refresh_from_db()
    assert not request_row.starts_itself


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"start_until": ""}, 422, "Give both times"),
        ({"start_from": "tomorrow"}, 422, "Enter a valid date/time"),
        (
            {"start_from": "2020-01-01T00:00", "start_until": "2020-01-01T02:00"},
            409,
            "over already",
        ),
    ],
)
def test_wrong_times_say_why(
    as_alice: Client,
    request_row: ApprovalRequest,
    changes: dict[str, str],
    status: int,
    said: str,
) -> None:
    answer = as_alice.post(path(request_row, "start/"), sent(**changes))
    assert answer.status_code == status
    assert said in answer.content.decode()


def test_a_wait_is_shown_and_the_button_comes_after_it(
    as_alice: Client, request_row: ApprovalRequest, bob: User
) -> None:
    vote(request_row, bob)
    rows = ApprovalRequest.objects.filter(pk=request_row.pk)
    rows.update(state=RequestState.APPROVED, decided_at=timezone.now(), wait_minutes=90)
    page = parsed(as_alice.get(path(request_row)))
    assert "90 minutes after the approval" in words(page, ".facts")
    assert page.select(".decide") == []
    rows.update(decided_at=timezone.now() - 2 * HOUR)
    assert parsed(as_alice.get(path(request_row))).select(".decide")

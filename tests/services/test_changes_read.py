"""At high risk nobody approves what they were not shown."""

import pytest
from django.test import Client

from deployments.models import (
    ApprovalRequest,
    ChangesRead,
    Decision,
    RequestState,
    RiskClass,
    User,
)
from deployments.selectors.approvals import request_page
from deployments.services.approvals import decide
from deployments.services.changes_read import open_changes
from deployments.services.errors import ConflictError, NotAllowedError
from tests.services.conftest import Team1
from tests.team_rows import ChangesReadFactory
from tests.views.pages import parsed

pytestmark = pytest.mark.django_db


@pytest.fixture(name="request_row")
def high(team1: Team1) -> ApprovalRequest:
    """An open request of alice of high risk."""
    row = team1.request()
    ApprovalRequest.objects.filter(pk=row.pk).update(risk=RiskClass.HIGH)
    return ApprovalRequest.objects.get(pk=row.pk)


def approve(user: User, row: ApprovalRequest) -> str:
    return decide(user, row, Decision.APPROVE, shown_digest=row.digest).state


def test_approving_waits_for_the_changes_and_rejecting_does_not(
    team1: Team1, request_row: ApprovalRequest
) -> None:
    assert request_page(team1.bob, request_row).unread
    assert not request_page(team1.alice, request_row).unread
    with pytest.raises(ConflictError, match="look at what it changes"):
        approve(team1.bob, request_row)

    open_changes(team1.bob, request_row, shown_digest=request_row.digest)
    open_changes(team1.bob, request_row, shown_digest=request_row.digest)

    assert ChangesRead.objects.count() == 1
    assert not request_page(team1.bob, request_row).unread
    assert approve(team1.bob, request_row) == RequestState.APPROVED


def test_another_persons_reading_or_that_of_another_plan_is_none(
    team1: Team1, request_row: ApprovalRequest
) -> None:
    ChangesReadFactory.create(request=request_row, user=team1.alice)
    ChangesReadFactory.create(request=request_row, user=team1.bob, digest="sha256:0")

    with pytest.raises(ConflictError, match="look at what it changes"):
        approve(team1.bob, request_row)
    rejected = decide(
        team1.bob, request_row, Decision.REJECT, shown_digest=request_row.digest
    )
    assert rejected.state == RequestState.REJECTED


def test_only_who_decides_is_noted_and_only_for_the_plan_that_is_asked_for(
    team1: Team1, request_row: ApprovalRequest
) -> None:
    with pytest.raises(NotAllowedError):
        open_changes(team1.alice, request_row, shown_digest=request_row.digest)
    with pytest.raises(ConflictError, match="changed since"):
        open_changes(team1.bob, request_row, shown_digest="sha256:0")
    assert not ChangesRead.objects.exists()


def test_a_comment_that_was_begun_goes_along(
    team1: Team1, request_row: ApprovalRequest
) -> None:
    client = Client()
    client.force_login(team1.bob)
    data = {"digest": request_row.digest, "comment": "why 5 & not 3?"}
    shown = client.post(f"/approvals/{request_row.pk}/read/", data, follow=True)
    field = parsed(shown).select_one("[name=comment]")
    assert field is not None
    assert field["value"] == data["comment"]

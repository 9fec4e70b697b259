"""Reminders at half and nine tenths of a request's time, each once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.models import ApprovalRequest, Notice, NoticeKind, RequestState
from deployments.services.reminders import remind_due
from tests.notice_rows import NoticeChannelFactory
from tests.services.conftest import Team1

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def past(request: ApprovalRequest, share: float, **columns: object) -> None:
    """Let this share of ten days be over."""
    began = timezone.now() - 10 * DAY * share
    ApprovalRequest.objects.filter(pk=request.pk).update(
        created_at=began, expires_at=began + 10 * DAY, **columns
    )


def said() -> list[str]:
    """What was told, in order."""
    return [str(one.said) for one in Notice.objects.order_by("created_at")]


def test_each_share_is_told_once(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team, events=[NoticeKind.REMINDER.value])
    request = team1.request()
    past(request, 0.49)
    assert remind_due() == 0
    past(request, 0.51)
    assert (remind_due(), remind_due()) == (1, 0)
    past(request, 0.91)
    assert (remind_due(), remind_due()) == (1, 0)
    first, second = said()
    assert "waits for a decision; 50 % of" in first
    assert "waits for a decision; 90 % of" in second


def test_after_a_pause_only_the_most_urgent_is_told(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    past(team1.request(), 0.95)
    assert (remind_due(), remind_due()) == (1, 0)
    assert ["90 %" in one for one in said()] == [True]


def test_an_approval_that_is_not_used_has_a_time_of_its_own(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    request = team1.approved()
    ApprovalRequest.objects.filter(pk=request.pk).update(
        created_at=timezone.now() - 9 * DAY,
        decided_at=timezone.now() - DAY,
        expires_at=timezone.now() + 5 * DAY,
    )
    assert remind_due() == 0
    ApprovalRequest.objects.update(expires_at=timezone.now() + DAY / 2)
    assert remind_due() == 1
    assert "is approved and has not started; 50 %" in said()[0]


def test_what_has_ended_is_told_of_no_more(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    request = team1.request()
    past(request, 0.95, state=RequestState.WITHDRAWN, decided_at=timezone.now())
    assert remind_due() == 0
    past(request, 1.01, state=RequestState.OPEN)
    assert remind_due() == 0

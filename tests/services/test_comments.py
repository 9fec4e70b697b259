"""Questions and answers about a request: for its team, beside the votes, told but never quoted."""

import pytest
from django.test import Client

from deployments.models import (
    ApprovalRequest,
    AuditEntry,
    Decision,
    Notice,
    NoticeKind,
    RequestState,
)
from deployments.services.approvals import check_approval, decide
from deployments.services.comments import LONGEST, MOST_COMMENTS, comment_on
from deployments.services.errors import ConflictError, NotAllowedError
from tests.notice_rows import NoticeChannelFactory
from tests.services.conftest import Team1
from tests.team_rows import RequestCommentFactory
from tests.views.pages import text_of
from tests.world import browser

pytestmark = pytest.mark.django_db


def test_a_question_voids_no_vote_and_is_answered_on_the_page(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team, events=[NoticeKind.COMMENTED])
    request = team1.request()
    path = f"/approvals/{request.pk}/"
    asked = {"text": "Why <b>three</b> \u202etokens?"}
    assert browser(team1.bob).post(f"{path}comment/", asked).status_code == 302
    decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)
    comment_on(team1.alice, request, "They were measured.")
    approved = ApprovalRequest.objects.get()
    assert approved.state == RequestState.APPROVED
    check_approval(approved)
    page = browser(team1.alice).get(path)
    assert "&lt;b&gt;three" in page.content.decode()
    assert "\u202e" not in page.content.decode()
    assert text_of(page).index("tokens?") < text_of(page).index("They were measured.")
    told = Notice.objects.filter(kind=NoticeKind.COMMENTED)
    assert told.count() == 2
    assert "tokens" not in str([(one.said, one.facts) for one in told])
    entries = AuditEntry.objects.filter(action="request.commented")
    assert [one.reason for one in entries] == ["They were measured.", asked["text"]]


def test_who_may_write_and_how_much(team1: Team1) -> None:
    request = team1.request()
    path = f"/approvals/{request.pk}/comment/"
    assert browser(team1.charlie).post(path, {"text": "x"}).status_code == 404
    with pytest.raises(NotAllowedError):
        comment_on(team1.charlie, request, "x")
    for words in (" ", "a\0b", "x" * (LONGEST + 1)):
        assert browser(team1.bob).post(path, {"text": words}).status_code == 409
    assert Client().post(path, {"text": "x"}).status_code == 302
    for _ in range(MOST_COMMENTS):
        RequestCommentFactory.create(request=request, author=team1.alice)
    with pytest.raises(ConflictError, match="no room"):
        comment_on(team1.bob, request, "One more.")
    assert request.comments.count() == MOST_COMMENTS

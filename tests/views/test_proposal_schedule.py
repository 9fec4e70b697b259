"""The panel proposes by itself where a team allowed it, once, and never starts anything."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    Decision,
    ProposalSchedule,
    Release,
    Replica,
    RequestState,
    TeamRole,
    User,
)
from deployments.selectors.votes import Obstacle, obstacle
from deployments.services.approvals import decide
from deployments.services.proposal_schedules import propose_due
from tests.factories import ReleaseFactory, member
from tests.proposal_rows import ProposalScheduleFactory
from tests.views.conftest import logged_in
from tests.views.pages import parsed, text_of
from tests.views.plan_fixtures import gpu_host  # noqa: F401 - fixture
from tests.views.test_next_changes import hour, page, replica

__all__ = ["replica"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def erin(alice: User) -> User:
    """Holds every role of the team."""
    team = alice.memberships.get().team
    return member(team, "erin", *TeamRole)


def later(days: int) -> None:
    """As if the last look had been so many days earlier."""
    row = ProposalSchedule.objects.get()
    assert row.looked_at is not None
    ProposalSchedule.objects.update(looked_at=row.looked_at - timedelta(days=days))


def busy(replica: Replica) -> None:
    """Hours with more load than speculation bears."""
    for ago in range(1, 6):
        hour(replica, ago, running=30.0)


def test_an_admin_allows_it_and_the_first_proposal_goes_to_the_vote_once(
    erin: User, bob: User, as_alice: Client, replica: Replica
) -> None:
    busy(replica)
    browser = logged_in(erin)
    assert propose_due() == 0
    answer = browser.post(f"{page(replica)}schedule/", {"every_days": "7"}, follow=True)
    assert "The panel looks every 7 days" in text_of(answer)
    assert parsed(as_alice.get(page(replica))).select("[name=every_days]") == []
    assert propose_due() == 1
    request = ApprovalRequest.objects.get(state=RequestState.OPEN)
    assert request.plan.method == "off"
    assert (request.submitted_by, request.starts_itself) == (erin, False)
    assert request.comment.startswith("Proposed by the panel on its schedule. Turn")
    assert obstacle(erin, request) in {Obstacle.AUTHOR, Obstacle.SAME_PERSON}
    assert Release.objects.count() == 1

    later(8)
    assert propose_due() == 0, "one request waits already"
    decide(bob, request, Decision.REJECT, shown_digest=request.digest, comment="no")
    assert propose_due() == 0, "people said no to this change"
    assert ApprovalRequest.objects.filter(pk=request.pk, plan__method="off").exists()
    shown = text_of(browser.get(page(replica)))
    assert "Its newest request" in shown


def test_it_looks_no_sooner_than_allowed_and_says_why_it_made_nothing(
    erin: User, replica: Replica
) -> None:
    ProposalScheduleFactory.create(
        deployment=replica.release.deployment, allowed_by=erin
    )
    Release.objects.update(state="stopped")
    assert propose_due() == 0
    shown = text_of(logged_in(erin).get(page(replica)))
    assert "Nothing runs now, so nothing is judged." in shown
    Release.objects.update(state="live")
    busy(replica)
    assert propose_due() == 0, "it looked a moment ago"
    later(8)
    assert propose_due() == 1


def test_what_was_tried_and_taken_back_is_not_proposed_again(
    erin: User, replica: Replica
) -> None:
    busy(replica)
    ProposalScheduleFactory.create(
        deployment=replica.release.deployment, allowed_by=erin
    )
    assert propose_due() == 1
    requests = ApprovalRequest.objects.filter(state=RequestState.OPEN)
    request = requests.get()
    ReleaseFactory.create(
        deployment=replica.release.deployment,
        number=replica.release.number + 1,
        request=request,
        plan=request.plan,
        state="failed",
        live_at=None,
    )
    requests.update(state=RequestState.EXPIRED, decided_at=timezone.now())
    later(8)
    assert propose_due() == 1, "it never ran"
    row = ProposalSchedule.objects.get()
    Release.objects.filter(request=request).update(
        request=row.proposed, state="stopped", live_at=row.looked_at
    )
    requests.update(state=RequestState.EXPIRED, decided_at=timezone.now())
    later(8)
    assert propose_due() == 0
    later(92)
    long_ago = timezone.now() - timedelta(days=91)
    ApprovalRequest.objects.update(created_at=long_ago)
    assert propose_due() == 1


def test_who_lost_the_role_proposes_nothing(erin: User, replica: Replica) -> None:
    busy(replica)
    row = ProposalScheduleFactory.create(
        deployment=replica.release.deployment, allowed_by=erin
    )
    erin.memberships.get().grants.filter(role=TeamRole.OPERATOR).delete()
    assert propose_due() == 0
    row.refresh_from_db()
    assert "operator" in str(row.problem).lower()
    assert not ApprovalRequest.objects.filter(state=RequestState.OPEN).exists()


def test_ending_it_and_wrong_words_leave_an_entry_or_a_sentence(
    erin: User, as_alice: Client, dora: User, replica: Replica
) -> None:
    address = f"{page(replica)}schedule/"
    assert as_alice.post(address, {"every_days": "7"}).status_code == 403
    only_admin = logged_in(dora).post(address, {"every_days": "7"}, follow=True)
    assert "This needs the role" in text_of(only_admin)
    browser = logged_in(erin)
    odd = browser.post(address, {"every_days": "3"}, follow=True)
    assert "Choose how often the panel looks." in text_of(odd)
    assert not ProposalSchedule.objects.exists()
    browser.post(address, {"every_days": "1"})
    browser.post(address, {"every_days": ""})
    assert not ProposalSchedule.objects.exists()
    entries = AuditEntry.objects.filter(action=AuditAction.PROPOSALS_SCHEDULED)
    told = list(entries.order_by("sequence").values_list("after", flat=True))
    assert told == [{"every_days": 1}, {"every_days": None}]

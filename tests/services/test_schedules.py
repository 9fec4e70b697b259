"""When approved plans start: not early, never late, by themselves only as the approver saw it."""

import uuid
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    AuditEntry,
    Cluster,
    Command,
    Decision,
    Release,
    ReleaseState,
    RequestState,
    RoleGrant,
    TeamRole,
)
from deployments.planning.approval_rules import ApprovalRules
from deployments.selectors.start_times import AT_ANY_TIME, start_word
from deployments.services.approvals import decide, expire_requests
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.policies import change_rules
from deployments.services.releases import start_release
from deployments.services.rollout.executor import run_command
from deployments.services.schedules import (
    NotYetError,
    TooLateError,
    check_start_time,
    plan_start,
)
from deployments.services.self_starts import start_due
from tests.factories import member
from tests.services.conftest import Team1
from tests.services.test_freezes import closed
from tests.services.test_releases import in_state

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    return ApprovalRequest.objects.get(pk=request.pk)


def window(start: timedelta, end: timedelta) -> tuple[datetime, datetime]:
    now = timezone.now()
    return now + start, now + end


def planned(
    team1: Team1,
    times: tuple[datetime, datetime] | None = None,
    *,
    by_itself: bool = True,
) -> ApprovalRequest:
    """An open request whose start alice asked for."""
    request = team1.request()
    plan_start(team1.alice, request, times, by_itself=by_itself, zone="Europe/Berlin")
    return fresh(request)


def approve(team1: Team1, request: ApprovalRequest) -> ApprovalRequest:
    return decide(
        team1.bob,
        request,
        Decision.APPROVE,
        shown_digest=request.digest,
        shown_start=start_word(request),
    )


def at(request: ApprovalRequest, **values: object) -> ApprovalRequest:
    """The request as if its times were others; the database's clock cannot be moved."""
    ApprovalRequest.objects.filter(pk=request.pk).update(**values)
    return fresh(request)


def test_only_who_asked_says_when_and_only_before_a_vote(team1: Team1) -> None:
    other = member(team1.team, "olga", TeamRole.OPERATOR)
    request = team1.request()
    for person in (team1.bob, other, team1.charlie):
        with pytest.raises(NotAllowedError):
            plan_start(person, request, None, by_itself=True, zone="UTC")
    plan_start(team1.alice, request, None, by_itself=True, zone="UTC")
    at(request, approvals_needed=2)
    approve(team1, fresh(request))
    with pytest.raises(ConflictError, match="Somebody has voted"):
        plan_start(team1.alice, request, None, by_itself=False, zone="UTC")
    assert fresh(request).starts_itself
    assert AuditEntry.objects.filter(action="request.start_planned").count() == 1


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (-2 * HOUR, -HOUR, "over already"),
        (HOUR, HOUR, "between five minutes"),
        (HOUR, 9 * 24 * HOUR, "between five minutes"),
        (8 * 24 * HOUR, 8 * 24 * HOUR + HOUR, "would have run out"),
    ],
)
def test_windows_that_cannot_be_kept_are_refused(
    team1: Team1, start: timedelta, end: timedelta, said: str
) -> None:
    with pytest.raises(ConflictError, match=said):
        planned(team1, window(start, end))


def test_a_vote_counts_for_the_start_that_was_shown(team1: Team1) -> None:
    request = planned(team1)
    with pytest.raises(ConflictError, match="When it would start changed"):
        decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)
    assert not request.approvals.exists()
    assert start_word(team1.request("other")) == AT_ANY_TIME
    assert approve(team1, request).state == RequestState.APPROVED


def test_it_starts_by_itself_once_in_the_name_of_who_asked(team1: Team1) -> None:
    request = approve(team1, planned(team1))
    team1.approved("by hand")

    assert (start_due(), start_due()) == (1, 0)
    release = Release.objects.get()
    assert (release.request, release.started_by) == (request, team1.alice)
    assert fresh(request).state == RequestState.RELEASED


def test_nothing_starts_before_its_window_and_nothing_after_it(team1: Team1) -> None:
    request = approve(team1, planned(team1, window(HOUR, 3 * HOUR)))

    assert request.expires_at == request.start_until
    with pytest.raises(NotYetError, match="may not start before"):
        start_release(team1.alice, request, uuid.uuid4().hex)
    assert start_due() == 0
    now = timezone.now()
    missed = at(
        request,
        start_from=now - 2 * HOUR,
        start_until=now - HOUR,
        expires_at=now - HOUR,
    )
    assert start_due() == 0
    with pytest.raises(ConflictError):
        start_release(team1.alice, missed, uuid.uuid4().hex)
    assert expire_requests() == 1
    assert fresh(request).state == RequestState.EXPIRED
    assert not Release.objects.exists()


def test_the_executor_refuses_what_it_reaches_after_the_window(team1: Team1) -> None:
    request = approve(team1, planned(team1, window(-HOUR, HOUR)))
    release = start_release(team1.alice, request, uuid.uuid4().hex)
    at(request, start_until=timezone.now())

    run_command(Command.objects.get(release=release).pk)

    release.refresh_from_db()
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "too_late")
    # Neither does releasing it again get around it, until it was live once.
    with pytest.raises(TooLateError):
        check_start_time(fresh(request))
    in_state(release, ReleaseState.LIVE)
    check_start_time(fresh(request))


def wait(team1: Team1, minutes: int, version: int) -> None:
    rules = ApprovalRules(wait_minutes=minutes)
    admin = member(team1.team, f"admin-{version}", TeamRole.ADMIN)
    change_rules(admin, team1.cluster, rules, shown_version=version)


def test_the_longer_wait_counts_from_the_approval(team1: Team1) -> None:
    request = at(team1.approved(), wait_minutes=30)
    with pytest.raises(NotYetError):
        start_release(team1.alice, request, uuid.uuid4().hex)
    waited = at(request, decided_at=timezone.now() - timedelta(minutes=31))
    wait(team1, 60, Cluster.objects.get(pk=team1.cluster.pk).policy_version)
    with pytest.raises(NotYetError):
        start_release(team1.alice, waited, uuid.uuid4().hex)
    wait(team1, 0, Cluster.objects.get(pk=team1.cluster.pk).policy_version)
    start_release(team1.alice, waited, uuid.uuid4().hex)


def test_who_lost_the_role_starts_nothing_and_the_reason_stays(team1: Team1) -> None:
    request = approve(team1, planned(team1))
    RoleGrant.objects.filter(
        membership__user=team1.alice, role=TeamRole.OPERATOR
    ).delete()

    assert start_due() == 0
    assert "needs the role" in fresh(request).start_problem
    assert fresh(request).state == RequestState.APPROVED


def test_a_self_start_waits_for_the_end_of_a_freeze(team1: Team1) -> None:
    request = approve(team1, planned(team1))
    row = closed(team1)
    assert start_due() == 0
    assert not fresh(request).start_problem
    row.delete()
    assert start_due() == 1


def test_a_vote_that_is_void_at_the_time_starts_nothing(team1: Team1) -> None:
    request = approve(team1, planned(team1))
    RoleGrant.objects.filter(membership__user=team1.bob).delete()

    assert start_due() == 0
    assert "No approval of this plan holds" in fresh(request).start_problem

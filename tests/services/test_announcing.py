"""What happened is written down for whoever wants to know, with the act and never in its way."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import transaction
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    Decision,
    DeliveryState,
    Notice,
    NoticeDelivery,
    NoticeKind,
    Release,
    ReleaseState,
    RequestState,
    TeamRole,
)
from deployments.services.approvals import decide, expire_requests
from deployments.services.break_glass import break_glass
from deployments.services.notices.announcing import tell_of_alarm
from deployments.services.notices.sending import due_deliveries, send_notice
from deployments.services.rollout.telling import tell_failed, tell_live
from tests.factories import (
    AlarmFactory,
    MembershipFactory,
    ReleaseFactory,
    RoleGrantFactory,
    TeamFactory,
    UserFactory,
)
from tests.notice_rows import NoticeChannelFactory, channel_to
from tests.plan_rows import released
from tests.plan_values import plan_value
from tests.services.conftest import Team1

pytestmark = pytest.mark.django_db


def told(kind: NoticeKind) -> Notice:
    """The only notice, which is of this kind."""
    notice = Notice.objects.get()
    assert notice.kind == kind
    return notice


def test_a_decision_tells_the_team_and_its_members_alone(team1: Team1) -> None:
    wanted = NoticeChannelFactory.create(team=team1.team)
    own = NoticeChannelFactory.create(team=None, user=team1.alice)
    NoticeChannelFactory.create(team=team1.team, events=["rejected"])
    NoticeChannelFactory.create(team=TeamFactory.create())
    NoticeChannelFactory.create(team=None, user=team1.charlie)
    gone = UserFactory.create(is_active=False)
    MembershipFactory.create(team=team1.team, user=gone)
    NoticeChannelFactory.create(team=None, user=gone)
    request = team1.request()
    decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)
    notice = told(NoticeKind.APPROVED)
    assert notice.actor_name == "bob"
    assert (notice.place, notice.place_id) == ("approval", request.pk)
    assert notice.facts["digest"] == request.digest
    deployment = request.plan.revision.deployment
    assert deployment.name in notice.said
    assert {row.channel for row in notice.deliveries.all()} == {wanted, own}


def test_where_nobody_wants_to_know_nothing_is_written(team1: Team1) -> None:
    request = team1.request()
    decide(team1.bob, request, Decision.REJECT, shown_digest=request.digest)
    assert not Notice.objects.exists()


def test_a_notice_goes_with_the_act_that_it_tells_of(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    request = team1.request()
    with transaction.atomic():
        decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)
        assert NoticeDelivery.objects.count() == 1
        transaction.set_rollback(True)
    assert not Notice.objects.exists()
    request.refresh_from_db()
    assert request.state == RequestState.OPEN


def test_neither_a_broker_nor_a_receiver_that_is_down_changes_an_act(
    team1: Team1,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    settings: Any,
) -> None:
    """The message is lost and the row stays; the round finds it, and tries again later."""
    settings.NOTICE_NETWORKS_ALLOWED = ["127.0.0.0/8"]
    for name in ("broker_url", "broker_write_url"):
        monkeypatch.setattr(current_app.conf, name, "redis://127.0.0.1:1/0")
    channel_to("http://127.0.0.1:1/", team=team1.team)
    request = team1.request()
    with django_capture_on_commit_callbacks(execute=True):
        decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)
    (waiting,) = due_deliveries()
    send_notice(waiting)
    delivery = NoticeDelivery.objects.get()
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 1)
    assert "could not be reached" in delivery.error
    request.refresh_from_db()
    assert request.state == RequestState.APPROVED


def test_a_request_that_ran_out_is_told_and_written_in_the_audit(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    request = team1.request()
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_requests() == 1
    assert expire_requests() == 0
    told(NoticeKind.EXPIRED)
    entry = AuditEntry.objects.get(action=AuditAction.REQUEST_EXPIRED)
    assert (entry.object_id, entry.actor) == (str(request.pk), None)
    assert entry.before == {"state": "open"}


def test_a_start_without_approval_is_told_at_once(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    membership = team1.alice.memberships.get()
    RoleGrantFactory.create(membership=membership, role=TeamRole.BREAK_GLASS)
    release = break_glass(
        team1.alice, team1.request(), "key", reason="It is down.", incident="INC-1"
    )
    notice = told(NoticeKind.BYPASSED)
    assert (notice.place_id, notice.actor_name) == (release.pk, "alice")
    assert "It is down." not in notice.said


def test_how_a_release_came_out_is_told_and_written(team1: Team1) -> None:
    NoticeChannelFactory.create(team=team1.team)
    request = team1.request()
    release = released(request.plan, plan_value(name="chat", number=1))
    tell_failed(release, "oom_killed")
    told(NoticeKind.FAILED)
    Notice.objects.all().delete()
    tell_live(release)
    told(NoticeKind.DEPLOYED)
    Notice.objects.all().delete()
    Release.objects.update(state=ReleaseState.STOPPED)
    tell_live(
        ReleaseFactory.create(
            deployment=release.deployment, plan=request.plan, number=2
        )
    )
    told(NoticeKind.ROLLED_BACK)
    entries = AuditEntry.objects.filter(object_kind="release").order_by("sequence")
    assert [entry.action for entry in entries] == [
        AuditAction.RELEASE_FAILED,
        AuditAction.RELEASE_LIVE,
        AuditAction.RELEASE_LIVE,
    ]
    assert entries[0].after == {"cause_code": "oom_killed"}


def test_an_alarm_is_told_with_its_numbers() -> None:
    alarm = AlarmFactory.create()
    NoticeChannelFactory.create(team=alarm.deployment.cluster.team)
    tell_of_alarm(alarm)
    assert alarm.text in told(NoticeKind.ALARM).said

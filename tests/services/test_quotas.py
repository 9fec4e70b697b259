"""Device quotas: asked when a plan is submitted, and again when a release begins."""

from dataclasses import replace

import pytest
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    Booking,
    Deployment,
    ReleaseState,
    TeamRole,
)
from deployments.selectors.quotas import holdings
from deployments.services.approvals import withdraw
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.plans import submit_plan
from deployments.services.quotas import (
    QuotaExceededError,
    check_release,
    set_quota,
)
from tests.factories import BookingFactory, ReplicaFactory, member
from tests.plan_rows import released
from tests.plan_values import plan_value
from tests.services.conftest import Team1
from tests.services.connections import at_once
from tests.services.test_plans import Wish, make_wish
from tests.team_rows import DeviceQuotaFactory

pytestmark = pytest.mark.django_db


def submitted(team1: Team1, wish: Wish, name: str) -> ApprovalRequest:
    """The wish under another name, put to the vote."""
    wish = replace(wish, spec=replace(wish.spec, name=name))
    return submit_plan(team1.alice, wish.inputs, wish.spec, shown_digest=wish.digest())


def hold(team1: Team1, device: int) -> None:
    """Another release of the team holds a device of the host."""
    holder = ReplicaFactory.create(
        host=team1.host, release__deployment__cluster=team1.cluster
    )
    BookingFactory.create(replica=holder, device=device)


def test_a_plan_beyond_the_quota_is_refused_with_numbers(team1: Team1) -> None:
    wish = make_wish(team1)
    hold(team1, 7)
    DeviceQuotaFactory.create(cluster=team1.cluster, devices=1)
    with pytest.raises(QuotaExceededError) as refused:
        submitted(team1, wish, "talk")
    said = str(refused.value)
    assert "may hold 1 devices of" in said
    assert "holds 1 and asks for 0 more" in said
    assert "takes 1 more" in said
    assert not Deployment.objects.filter(name="talk").exists()


def test_what_is_asked_for_counts_until_it_is_withdrawn(team1: Team1) -> None:
    wish = make_wish(team1)
    hold(team1, 7)
    DeviceQuotaFactory.create(cluster=team1.cluster, devices=2)
    first = submitted(team1, wish, "chat")
    held = holdings(team1.team, team1.cluster)
    assert (held.booked, held.asked, held.total) == (1, 1, 2)
    hold(team1, 6)
    with pytest.raises(QuotaExceededError, match="holds 2 and asks for 1 more"):
        submitted(team1, wish, "talk")
    withdraw(team1.alice, first)
    assert holdings(team1.team, team1.cluster).total == 2


def test_two_plans_at_once_do_not_both_get_the_last_device(
    committed_team1: Team1,
) -> None:
    team1, wish = committed_team1, make_wish(committed_team1)
    hold(team1, 7)
    DeviceQuotaFactory.create(cluster=team1.cluster, devices=2)
    other = replace(wish, spec=replace(wish.spec, name="talk"))
    digests = (wish.digest(), other.digest())
    outcomes = at_once(
        lambda: submit_plan(
            team1.alice, wish.inputs, wish.spec, shown_digest=digests[0]
        ),
        lambda: submit_plan(
            team1.alice, other.inputs, other.spec, shown_digest=digests[1]
        ),
    )
    kinds = sorted(type(one).__name__ for one in outcomes)
    assert kinds == ["ApprovalRequest", "QuotaExceededError"], outcomes
    assert holdings(team1.team, team1.cluster).total == 2


def test_the_executor_lets_the_release_pass_that_booked_first(team1: Team1) -> None:
    plans = [team1.plan("chat", 1), team1.plan("talk", 1)]
    first, second = (
        released(plan, plan_value(name=name, number=1), ReleaseState.QUEUED)
        for plan, name in zip(plans, ("chat", "talk"), strict=True)
    )
    BookingFactory.create(replica=first.replicas.get(), device=7)
    BookingFactory.create(replica=second.replicas.get(), device=5)
    check_release(second)
    DeviceQuotaFactory.create(cluster=team1.cluster, devices=1)
    check_release(first)
    with pytest.raises(QuotaExceededError, match="hold 1, and this one takes 1 more"):
        check_release(second)
    Booking.objects.filter(replica__release=first).update(released_at=timezone.now())
    with pytest.raises(QuotaExceededError):
        check_release(first)


def test_only_an_admin_sets_a_quota_and_the_audit_tells(team1: Team1) -> None:
    admin = member(team1.team, "ada", TeamRole.ADMIN)
    with pytest.raises(NotAllowedError):
        set_quota(team1.alice, team1.cluster, 4)
    with pytest.raises(ConflictError):
        set_quota(admin, team1.cluster, -1)
    assert set_quota(admin, team1.cluster, 4)
    assert not set_quota(admin, team1.cluster, 4)
    assert set_quota(admin, team1.cluster, None)
    entries = AuditEntry.objects.filter(action=AuditAction.QUOTA_CHANGED)
    assert [one.after for one in entries.order_by("sequence")] == [
        {"devices": 4},
        {"devices": None},
    ]

"""The page of every account: who disables whom, and what ends with an account."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.models import (
    ApprovalRequest,
    AuditEntry,
    RequestState,
    Team,
    TeamRole,
    TokenScope,
    User,
)
from deployments.services.accounts import disable_account
from deployments.services.approvals import check_approval
from deployments.services.errors import NotAllowedError, NotApprovedError
from deployments.services.tokens import create_token
from tests.delegation_rows import DelegatedVoteFactory
from tests.factories import UserFactory, member
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value
from tests.views.pages import text_of
from tests.views.test_login import PASSWORD
from tests.world import World, browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    """A platform admin who is in no team."""
    return UserFactory.create(username="root", is_superuser=True)


def change(client: Client, user: User, act: str = "disable") -> int:
    """Press the button beside an account; the status."""
    data = {"account": user.pk, "reason": "left"}
    return client.post(f"/people/{act}/", data).status_code


def test_a_disabled_account_is_out_at_once_and_comes_back_without_its_tokens(
    root: User, bob: User
) -> None:
    bob.set_password(PASSWORD)
    bob.save()
    inside = Client()
    inside.post("/accounts/login/", {"login": "bob", "password": PASSWORD})
    key = create_token(bob, "robot", TokenScope.READ, days=1).key
    robot = Client(headers={"Authorization": f"Bearer {key}"})
    assert (inside.get("/").status_code, robot.get("/audit/table.csv").status_code) == (
        200,
        200,
    )
    admin = browser(root)
    assert change(admin, bob) == 302
    assert (inside.get("/").status_code, robot.get("/audit/table.csv").status_code) == (
        302,
        401,
    )
    outside = Client()
    outside.post("/accounts/login/", {"login": "bob", "password": PASSWORD})
    assert outside.get("/").status_code == 302
    entry = AuditEntry.objects.get(action="person.disabled")
    assert (entry.actor, entry.object_name, entry.reason) == (root, "bob", "left")
    assert entry.after == {"active": False, "sessions_ended": 1, "tokens_revoked": 1}
    assert "disabled" in text_of(admin.get("/people/?q=bob"))
    assert change(admin, bob, "enable") == 302
    assert inside.get("/").status_code == 302
    assert robot.get("/audit/table.csv").status_code == 401
    outside.post("/accounts/login/", {"login": "bob", "password": PASSWORD})
    assert outside.get("/").status_code == 200


def test_nobody_disables_themselves_and_others_may_nothing(
    root: User, as_dora: Client, bob: User, dora: User
) -> None:
    assert change(browser(root), root) == 403
    assert change(as_dora, bob) == 403
    assert change(as_dora, bob, "enable") == 403
    assert as_dora.post("/people/disable/", {"account": "9" * 30}).status_code == 403
    assert browser(root).post("/people/disable/", {"account": 0}).status_code == 404
    page = text_of(as_dora.get("/people/"))
    assert "needs an admin of the panel" in page
    assert "bob" not in page
    # An admin who was disabled meanwhile is asked of the database, not of the session.
    User.objects.filter(pk=root.pk).update(is_active=False)
    with pytest.raises(NotAllowedError):
        disable_account(root, bob)
    assert not User.objects.filter(is_active=False).exclude(pk=root.pk).exists()


@pytest.mark.parametrize("given", ["by themselves", "for them in their absence"])
def test_the_votes_of_a_disabled_approver_count_no_more_and_stay(
    root: User, given: str
) -> None:
    world = World("own")
    erin = member(world.team, "erin", TeamRole.APPROVER)
    plan = stored(world.deployment, plan_value(name=world.deployment.name, number=3))
    request = request_for(plan, RequestState.APPROVED)
    if given == "by themselves":
        vote(request, erin)
    else:
        ballot = vote(request, member(world.team, "gus", TeamRole.VIEWER))
        DelegatedVoteFactory.create(request=request, vote=ballot, approver=erin)
    check_approval(request)
    disable_account(root, erin)
    again = ApprovalRequest.objects.get(pk=request.pk)
    assert again.state == RequestState.OPEN
    assert again.approvals.count() == 1
    again.state = RequestState.APPROVED
    with pytest.raises(NotApprovedError, match="No approval"):
        check_approval(again)


def test_many_accounts_take_few_queries(
    root: User,
    team: Team,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(55):
        member(team, f"person-{number}", TeamRole.VIEWER)
    client = browser(root)
    client.get("/people/")
    with django_assert_max_num_queries(12):
        page = text_of(client.get("/people/?page=2"))
    assert "2 / 2" in page

"""Members and roles: who gives what to whom, and what a lost role takes with it."""

import pytest
from django.test import Client

from deployments.models import (
    ApprovalRequest,
    AuditEntry,
    Membership,
    RequestState,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.access import roles_in
from tests.factories import UserFactory, member
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value
from tests.views.pages import parsed, text_of
from tests.world import World, browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(team: Team) -> Client:
    """A browser of a platform admin who is in no team."""
    return browser(UserFactory.create(username="root", is_superuser=True))


def of(user: User) -> str:
    """The id of a person's only membership."""
    return str(Membership.objects.get(user=user).pk)


def give(client: Client, team: Team, user: User, *roles: TeamRole) -> int:
    """Tick these roles and no others; the status."""
    data = {"member": of(user), "roles": list(roles)}
    return client.post(f"/teams/{team.pk}/roles/", data).status_code


def test_an_admin_gives_and_takes_roles_and_it_counts_at_once(
    as_dora: Client, team: Team, alice: User
) -> None:
    assert give(as_dora, team, alice, TeamRole.VIEWER, TeamRole.APPROVER) == 302
    assert roles_in(alice, team) == {TeamRole.VIEWER, TeamRole.APPROVER}
    grant = RoleGrant.objects.get(membership__user=alice, role=TeamRole.APPROVER)
    assert grant.granted_by == User.objects.get(username="dora")
    entry = AuditEntry.objects.get(action="member.roles_changed")
    assert entry.before == {"roles": ["operator", "viewer"]}
    assert (entry.team, entry.object_name) == (team, "alice")
    assert give(as_dora, team, alice) == 302
    assert roles_in(alice, team) == set()


def test_others_look_and_change_nothing(
    as_alice: Client, team: Team, alice: User, bob: User
) -> None:
    page = as_alice.get(f"/teams/{team.pk}/")
    assert "Approver" in text_of(page)
    assert not parsed(page).select("main form")
    assert give(as_alice, team, bob) == 403
    for act in ("add", "invite", "remove", "invitations/revoke"):
        assert as_alice.post(f"/teams/{team.pk}/{act}/").status_code == 403
    assert as_alice.post("/teams/platform-admins/", {"name": "bob"}).status_code == 403
    assert roles_in(bob, team) == {TeamRole.VIEWER, TeamRole.APPROVER}


def test_nobody_changes_their_own_roles_or_gives_break_glass_unasked(
    as_dora: Client, root: Client, team: Team, dora: User, alice: User
) -> None:
    assert give(as_dora, team, dora, TeamRole.ADMIN, TeamRole.APPROVER) == 403
    assert give(as_dora, team, alice, TeamRole.BREAK_GLASS) == 403
    assert give(root, team, alice, TeamRole.BREAK_GLASS) == 302
    assert roles_in(alice, team) == {TeamRole.BREAK_GLASS}
    # A team admin neither takes it away unawares nor removes who holds it.
    assert give(as_dora, team, alice) == 403
    assert give(as_dora, team, alice, TeamRole.BREAK_GLASS, TeamRole.VIEWER) == 302
    me = member(team, "owner")
    User.objects.filter(pk=me.pk).update(is_superuser=True)
    assert give(browser(me), team, me, TeamRole.BREAK_GLASS) == 403
    assert give(browser(me), team, me, TeamRole.OPERATOR) == 302


def test_the_last_admin_stays(
    as_dora: Client, root: Client, team: Team, dora: User
) -> None:
    assert give(root, team, dora, TeamRole.VIEWER) == 409
    assert (
        root.post(f"/teams/{team.pk}/remove/", {"member": of(dora)}).status_code == 409
    )
    second = member(team, "second", TeamRole.ADMIN)
    User.objects.filter(pk=second.pk).update(is_active=False)
    assert give(root, team, dora, TeamRole.VIEWER) == 409
    User.objects.filter(pk=second.pk).update(is_active=True)
    assert (
        as_dora.post(f"/teams/{team.pk}/remove/", {"member": of(dora)}).status_code
        == 403
    )
    assert give(root, team, dora, TeamRole.VIEWER) == 302


def test_the_panel_keeps_an_admin(root: Client, alice: User) -> None:
    end = {"name": "root"}
    assert root.post("/teams/platform-admins/", end).status_code == 409
    make = {"name": "alice", "admin": "1"}
    assert root.post("/teams/platform-admins/", make).status_code == 302
    assert root.post("/teams/platform-admins/", end).status_code == 302
    assert list(User.objects.filter(is_superuser=True)) == [alice]
    assert AuditEntry.objects.filter(action="person.platform_admin").count() == 2
    assert root.post("/teams/platform-admins/", make).status_code == 403


def test_people_come_in_by_name_and_go(as_dora: Client, team: Team) -> None:
    UserFactory.create(username="eve")
    add = f"/teams/{team.pk}/add/"
    assert as_dora.post(add, {"name": "nobody"}).status_code == 409
    assert as_dora.post(add, {"name": "eve", "roles": "operator"}).status_code == 302
    assert as_dora.post(add, {"name": "eve"}).status_code == 409
    eve = User.objects.get(username="eve")
    assert roles_in(eve, team) == {TeamRole.OPERATOR}
    assert browser(eve).get(f"/teams/{team.pk}/").status_code == 200
    as_dora.post(f"/teams/{team.pk}/remove/", {"member": of(eve)})
    assert browser(eve).get(f"/teams/{team.pk}/").status_code == 404
    assert not Membership.objects.filter(user=eve).exists()


def test_a_foreign_member_is_nobody(as_dora: Client, team: Team) -> None:
    World("foreign")
    theirs = User.objects.get(username="foreign-host")
    assert give(as_dora, team, theirs, TeamRole.VIEWER) == 404
    assert roles_in(theirs, Team.objects.get(slug="foreign")) == {TeamRole.ADMIN}


def test_an_approval_that_falls_short_is_asked_for_again(as_dora: Client) -> None:
    own = World("own")
    bob = member(own.team, "bob", TeamRole.APPROVER)
    plan = stored(own.deployment, plan_value(name=own.deployment.name, number=3))
    request = request_for(plan, RequestState.APPROVED)
    RoleGrant.objects.filter(membership__user=bob).update(created_at=request.created_at)
    vote(request, bob)
    admin = browser(User.objects.get(username="own-host"))
    assert give(admin, own.team, bob, TeamRole.VIEWER) == 302
    assert ApprovalRequest.objects.get(pk=request.pk).state == RequestState.OPEN
    # Given again it is a role of later: the old vote stays void.
    assert give(admin, own.team, bob, TeamRole.APPROVER) == 302
    assert ApprovalRequest.objects.get(pk=request.pk).state == RequestState.OPEN


def test_the_page_takes_few_queries(
    as_dora: Client,
    team: Team,
    alice: User,
    bob: User,
    django_assert_max_num_queries: object,
) -> None:
    assert callable(django_assert_max_num_queries)
    with django_assert_max_num_queries(12):
        as_dora.get(f"/teams/{team.pk}/")

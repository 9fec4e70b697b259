"""Starting without approval: a grant of its own, for one release, marked and reviewed by another."""

import uuid

import pytest
from django.db import IntegrityError, transaction

from deployments.models import (
    ApprovalRequest,
    AuditEntry,
    BreakGlass,
    Command,
    Decision,
    Release,
    ReleaseState,
    RequestState,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.services.approvals import check_approval, decide
from deployments.services.bootstrap import EVERYDAY_ROLES
from deployments.services.break_glass import break_glass, check_use, close_review
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
)
from deployments.services.releases import release_again
from deployments.services.rollout.executor import run_command
from tests.factories import member
from tests.services.conftest import Team1
from tests.services.test_freezes import closed
from tests.services.test_releases import in_state

pytestmark = pytest.mark.django_db


@pytest.fixture
def gina(team1: Team1) -> User:
    """Holds the grant and nothing else."""
    return member(team1.team, "gina", TeamRole.BREAK_GLASS)


def used(user: User, request: ApprovalRequest, reason: str = "Down.") -> Release:
    return break_glass(user, request, uuid.uuid4().hex, reason=reason, incident="INC-7")


@pytest.mark.parametrize("role", EVERYDAY_ROLES)
def test_no_role_implies_it(team1: Team1, role: TeamRole) -> None:
    request = team1.request()
    for person in (
        member(team1.team, "olga", role),
        User.objects.create_superuser("root", None, "a long password 123"),
    ):
        with pytest.raises(NotAllowedError):
            used(person, request)
    request.refresh_from_db()
    assert request.state == RequestState.OPEN


def test_it_starts_what_is_open_and_frozen_and_is_marked(
    team1: Team1, gina: User
) -> None:
    closed(team1)
    request = team1.request()
    release = used(gina, request)

    assert used(gina, request) == release
    use = BreakGlass.objects.get()
    assert (use.release, use.state_before) == (release, RequestState.OPEN)
    assert release.started_by == gina
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("release.without_approval", "Down.")
    check_use(use)
    with pytest.raises(ConflictError):
        decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)


def test_neither_a_reason_nor_an_incident_may_lack(team1: Team1, gina: User) -> None:
    request = team1.request()
    with pytest.raises(ConflictError, match="Give a reason"):
        used(gina, request, reason="  ")
    with pytest.raises(ConflictError, match="Give a reason"):
        break_glass(gina, request, uuid.uuid4().hex, reason="Down.", incident="")
    assert not Release.objects.exists()


def test_what_was_rejected_or_forged_starts_for_nobody(
    team1: Team1, gina: User
) -> None:
    rejected = team1.request()
    decide(team1.bob, rejected, Decision.REJECT, shown_digest=rejected.digest)
    with pytest.raises(ConflictError, match="already ended"):
        used(gina, rejected)
    forged = team1.request("other")
    forged.digest = "sha256:" + "3" * 64
    with pytest.raises(NotApprovedError):
        used(gina, forged)
    assert not BreakGlass.objects.exists()


def test_a_grant_that_is_gone_stops_it_under_the_claim(
    team1: Team1, gina: User
) -> None:
    release = used(gina, team1.request())
    RoleGrant.objects.filter(membership__user=gina).delete()

    run_command(Command.objects.get(release=release).pk)

    release.refresh_from_db()
    assert (release.state, release.cause_code) == (ReleaseState.BLOCKED, "not_approved")


def test_it_covers_one_release_and_no_other(team1: Team1, gina: User) -> None:
    request = team1.request()
    release = in_state(used(gina, request), ReleaseState.STOPPED)
    request.refresh_from_db()
    with pytest.raises(NotApprovedError):
        check_approval(request)
    with pytest.raises(NotApprovedError):
        release_again(team1.alice, release, uuid.uuid4().hex)


def test_the_review_is_closed_by_another_once(team1: Team1, gina: User) -> None:
    used(gina, team1.request())
    use = BreakGlass.objects.get()
    RoleGrant.objects.create(membership=gina.memberships.get(), role=TeamRole.APPROVER)
    for person in (gina, team1.charlie, member(team1.team, "olga", TeamRole.OPERATOR)):
        with pytest.raises(NotAllowedError):
            close_review(person, use, "Fine.")
    with pytest.raises(ConflictError, match="what came of it"):
        close_review(team1.bob, use, " ")
    close_review(team1.bob, use, "It was right.")
    with pytest.raises(ConflictError, match="already"):
        close_review(team1.bob, use, "Again.")
    use.refresh_from_db()
    assert (use.reviewed_by, use.review) == (team1.bob, "It was right.")
    with pytest.raises(IntegrityError), transaction.atomic():
        BreakGlass.objects.update(reviewed_by=gina)

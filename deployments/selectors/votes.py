"""Whose decision counts: the rules of voting, asked by the pages before and the services after."""

from collections.abc import Iterable
from enum import StrEnum
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Lower, Now
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    Approval,
    ApprovalRequest,
    DelegatedVote,
    Delegation,
    Membership,
    Release,
    ReleaseState,
    Revision,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules, Risk
from deployments.selectors.access import roles_in
from deployments.selectors.policies import (
    asked_today,
    rules_asked_then,
    rules_for,
)


class Obstacle(StrEnum):
    """Why a person may not decide on a request."""

    NOT_APPROVER = "not_approver"
    AUTHOR = "author"
    EDITOR = "editor"
    SAME_PERSON = "same_person"
    INVITED = "invited"
    GRANTED_LATER = "granted_later"
    VOTED_FOR = "voted_for"


OBSTACLE_SENTENCES: dict[Obstacle, Promise] = {
    Obstacle.NOT_APPROVER: _(
        "Deciding needs the role “Approver” in this team, which you do not hold."
    ),
    Obstacle.AUTHOR: _(
        "This cluster asks for another person: you wrote this plan yourself."
    ),
    Obstacle.EDITOR: _(
        "This cluster asks for another person: you wrote an earlier version of this change."
    ),
    Obstacle.SAME_PERSON: _(
        "This cluster asks for another person: whoever wrote this plan has your e-mail address."
    ),
    Obstacle.INVITED: _(
        "This cluster asks for another person: your invitation goes back to whoever wrote this plan."
    ),
    Obstacle.GRANTED_LATER: _(
        "You became an approver after this request was made; it needs another."
    ),
    Obstacle.VOTED_FOR: _("Somebody has decided on this for you in your absence."),
}


_LINKS = ("invited_by", "invited_by__invited_by", "invited_by__invited_by__invited_by")
"""The links of a chain of invitations that count as one from its beginning."""


def invited_by_any(lookup: str, authors: object, *, of: str = "") -> Q:
    """People whose invitation goes back to one of the authors: directly, or by whom they invited.

    ``of`` leads from a row to the person.
    """
    found = Q()
    for link in _LINKS:
        found |= Q(**{f"{of}{link}__{lookup}": authors})
    return found


def team_of(request: ApprovalRequest) -> Team:
    """The team that the request is of."""
    return request.plan.revision.deployment.team


def deciding_teams(request: ApprovalRequest) -> frozenset[UUID]:
    """The teams whose approvers decide: its own, and the one whose hosts a guest would use."""
    deployment = request.plan.revision.deployment
    return frozenset({deployment.team_id, deployment.cluster.team_id})


def roles_on(user: User, request: ApprovalRequest) -> frozenset[TeamRole]:
    """What the person may do with the request, of a guest's with what its hosts' owners gave them.

    Approvers of the cluster's team decide on plans of guests, and nobody breaks the glass there
    without that grant in both teams.
    """
    roles = roles_in(user, team_of(request))
    deployment = request.plan.revision.deployment
    if deployment.team_id == deployment.cluster.team_id:
        return roles
    owned = roles_in(user, deployment.cluster.team)
    refused = {TeamRole.BREAK_GLASS} - owned
    return (roles - refused) | (owned & {TeamRole.APPROVER})


def needs_other_person(request: ApprovalRequest) -> bool:
    """Whether the authors may not decide: asked at submission, or by a stricter policy since."""
    cluster = request.plan.revision.deployment.cluster
    return request.requires_other_approver or cluster.requires_other_approver


def author_ids(request: ApprovalRequest) -> set[int]:
    """Who wrote what the request would run: its submitter and the revision's author."""
    return {request.submitted_by_id, request.plan.revision.created_by_id}


def editors_of(request: ApprovalRequest) -> QuerySet[Revision]:
    """The earlier revisions of what the request would change: those after the one that serves."""
    revision = request.plan.revision
    return earlier_revisions().filter(
        deployment=revision.deployment_id, number__lt=revision.number
    )


def earlier_revisions() -> QuerySet[Revision]:
    """Revisions after the one that serves in their deployment."""
    serving = Release.objects.filter(
        state=ReleaseState.LIVE,
        plan__revision__deployment=OuterRef("deployment"),
        plan__revision__number__gte=OuterRef("number"),
    )
    return Revision.objects.filter(~Exists(serving))


def obstacle(user: User, request: ApprovalRequest) -> Obstacle | None:
    """Why this person may not decide, whatever the state of the request; ``None`` is "may".

    Who has no right of their own may decide for somebody absent (``decides_for``).
    """
    own = _obstacle_of_own(user, request)
    if own is None and _votes_for(request).filter(approver=user).exists():
        return Obstacle.VOTED_FOR
    return None if own and decides_for(user, request) else own


def decides_for(user: User, request: ApprovalRequest) -> User | None:
    """The absent approver for whom this person decides; ``None`` for who has a right of their own.

    Four eyes hold for both: neither may be close to whoever wrote the plan. Nobody is voted for
    twice, and who has voted needs nobody.
    """
    if _obstacle_of_own(user, request) is None or not _may_stand_in(user, request):
        return None
    for one in (
        open_delegations(deciding_teams(request))
        .filter(delegate=user, delegate__memberships__team=F("team"))
        .select_related("approver")
        .order_by("created_at")
    ):
        others = _votes_for(request).filter(approver=one.approver)
        if (
            _obstacle_of_own(one.approver, request) is None
            and not request.approvals.filter(user=one.approver).exists()
            and not others.exclude(vote__user=user).exists()
        ):
            return one.approver
    return None


def open_delegations(teams: Iterable[UUID]) -> QuerySet[Delegation]:
    """The absences in these teams now; the database's clock ends them."""
    return Delegation.objects.filter(
        team__in=set(teams), ended_at=None, ends_at__gt=Now()
    )


def _votes_for(request: ApprovalRequest) -> QuerySet[DelegatedVote]:
    return DelegatedVote.objects.filter(request=request)


def _may_stand_in(user: User, request: ApprovalRequest) -> bool:
    """Whether somebody without a right of their own is a member and a second pair of eyes."""
    members = Membership.objects.filter(user=user, team__in=deciding_teams(request))
    if not user.is_active or not members.exists():
        return False
    if not needs_other_person(request):
        return True
    return user.pk not in author_ids(request) and _kinship(user, request) is None


def _obstacle_of_own(user: User, request: ApprovalRequest) -> Obstacle | None:
    if not user.is_active or not _rights(user, request).exists():
        return Obstacle.NOT_APPROVER
    if not needs_other_person(request):
        return None
    if user.pk in author_ids(request):
        return Obstacle.AUTHOR
    if (kin := _kinship(user, request)) is not None:
        return kin
    if not _rights(user, request).filter(created_at__lte=request.created_at).exists():
        return Obstacle.GRANTED_LATER
    return None


def vote_counts(vote: Approval, request: ApprovalRequest) -> bool:
    """Whether a vote still covers the request: its digest, and a voter who may decide today.

    One that was given for somebody covers it after the absence, too, while that person holds the
    right and the voter is in the team.
    """
    if vote.digest != request.digest:
        return False
    given_for: DelegatedVote | None = getattr(vote, "delegated", None)
    if given_for is None:
        return _obstacle_of_own(vote.user, request) is None
    holds = _obstacle_of_own(given_for.approver, request) is None
    return holds and _may_stand_in(vote.user, request)


def approvals_needed(
    request: ApprovalRequest, rules: ApprovalRules | None = None
) -> int:
    """The approvals that the request needs: asked at submission, or by a stricter policy since.

    ``rules`` are those of today, where the caller has read them.
    """
    if rules is None:
        rules = rules_for(request.plan.revision.deployment)
    return max(request.approvals_needed, rules.needed(Risk(request.risk)))


def asks_proof(request: ApprovalRequest, rules: ApprovalRules | None = None) -> bool:
    """Whether who votes has just proved who they are: asked at submission, or by the rules of today.

    ``rules`` are those of today, where the caller has read them.
    """
    if (rules or rules_for(request.plan.revision.deployment)).asks_proof:
        return True
    return not asked_today(request) and rules_asked_then(request).asks_proof


def possible_approvers(request: ApprovalRequest) -> QuerySet[User]:
    """The people who may decide on the request now, by name."""
    grants = RoleGrant.objects.filter(
        membership__team__in=deciding_teams(request), role=TeamRole.APPROVER
    )
    people = User.objects.alias(address=Lower("email")).filter(is_active=True)
    people = people.order_by("username")
    if needs_other_person(request):
        grants = grants.filter(created_at__lte=request.created_at)
        people = people.exclude(pk__in=author_ids(request)).exclude(
            invited_by_any("in", author_ids(request))
            | Q(pk__in=editors_of(request).values("created_by"))
            | (~Q(email="") & Q(address__in=_addresses(request)))
        )
    voted_for = _votes_for(request).values("approver")
    own = people.filter(pk__in=grants.values("membership__user"))
    absent = own.exclude(pk__in=voted_for).exclude(
        pk__in=request.approvals.values("user")
    )
    standing_in = open_delegations(deciding_teams(request)).filter(
        approver__in=absent.values("pk"),
        delegate__memberships__team=F("team"),
    )
    return people.filter(
        (Q(pk__in=own.values("pk")) & ~Q(pk__in=voted_for))
        | Q(pk__in=standing_in.values("delegate"))
        | Q(pk__in=_votes_for(request).values("vote__user"))
    )


def _addresses(request: ApprovalRequest) -> QuerySet[User, str]:
    """E-mail addresses of the authors, in small letters: providers and people write them as they like."""
    authors = User.objects.filter(pk__in=author_ids(request)).exclude(email="")
    return authors.values_list(Lower("email"), flat=True)


def _kinship(user: User, request: ApprovalRequest) -> Obstacle | None:
    """Why somebody who wrote nothing of the plan is no second pair of eyes all the same."""
    if editors_of(request).filter(created_by=user).exists():
        return Obstacle.EDITOR
    if _invited(user, author_ids(request)):
        return Obstacle.INVITED
    if user.email and user.email.lower() in set(_addresses(request)):
        return Obstacle.SAME_PERSON
    return None


def _invited(user: User, authors: set[int]) -> bool:
    """Whether the person's invitation goes back to one of the authors."""
    inviter = user.invited_by_id
    if inviter is None or inviter in authors:
        return inviter is not None
    earlier = Q()
    for link in _LINKS[:-1]:
        earlier |= Q(**{f"{link}__in": authors})
    return User.objects.filter(earlier, pk=inviter).exists()


def _rights(user: User, request: ApprovalRequest) -> QuerySet[RoleGrant]:
    return RoleGrant.objects.filter(
        membership__user=user,
        membership__team__in=deciding_teams(request),
        role=TeamRole.APPROVER,
    )

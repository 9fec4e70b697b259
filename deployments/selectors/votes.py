"""Whose decision counts: the rules of voting, asked by the pages before and the services after."""

from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    Approval,
    ApprovalRequest,
    Decision,
    Release,
    ReleaseState,
    Revision,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules, Risk
from deployments.selectors.access import has_role
from deployments.selectors.policies import current_rules


class Obstacle(StrEnum):
    """Why a person may not decide on a request."""

    NOT_APPROVER = "not_approver"
    AUTHOR = "author"
    EDITOR = "editor"
    SAME_PERSON = "same_person"
    INVITED = "invited"
    GRANTED_LATER = "granted_later"


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
        "This cluster asks for another person: whoever wrote this plan invited you."
    ),
    Obstacle.GRANTED_LATER: _(
        "You became an approver after this request was made; it needs another."
    ),
}


def team_of(request: ApprovalRequest) -> Team:
    """The team whose members decide on the request."""
    return request.plan.revision.deployment.cluster.team


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
    """Why this person may not decide, whatever the state of the request; ``None`` is "may"."""
    if not has_role(user, team_of(request), TeamRole.APPROVER):
        return Obstacle.NOT_APPROVER
    if not needs_other_person(request):
        return None
    if user.pk in author_ids(request):
        return Obstacle.AUTHOR
    if (kin := _kinship(user, request)) is not None:
        return kin
    if not _grants(user, request).exists():
        return Obstacle.GRANTED_LATER
    return None


def vote_counts(vote: Approval, request: ApprovalRequest) -> bool:
    """Whether a vote still covers the request: its digest, and a voter who may decide today."""
    return vote.digest == request.digest and obstacle(vote.user, request) is None


def approvals_needed(
    request: ApprovalRequest, rules: ApprovalRules | None = None
) -> int:
    """The approvals that the request needs: asked at submission, or by a stricter policy since.

    ``rules`` are those of today, where the caller has read them.
    """
    if rules is None:
        rules = current_rules(request.plan.revision.deployment.cluster)
    return max(request.approvals_needed, rules.needed(Risk(request.risk)))


def approvals_given(request: ApprovalRequest) -> int:
    """How many approving votes count today."""
    votes = request.approvals.filter(decision=Decision.APPROVE).select_related("user")
    return sum(vote_counts(vote, request) for vote in votes)


def possible_approvers(request: ApprovalRequest) -> QuerySet[User]:
    """The people who may decide on the request now, by name."""
    grants = RoleGrant.objects.filter(
        membership__team=team_of(request), role=TeamRole.APPROVER
    )
    people = User.objects.filter(is_active=True).order_by("username")
    if needs_other_person(request):
        grants = grants.filter(created_at__lte=request.created_at)
        people = people.exclude(pk__in=author_ids(request)).exclude(
            Q(invited_by__in=author_ids(request))
            | Q(pk__in=editors_of(request).values("created_by"))
            | (~Q(email="") & Q(email__in=_addresses(request)))
        )
    return people.filter(pk__in=grants.values("membership__user"))


def _addresses(request: ApprovalRequest) -> QuerySet[User, str]:
    authors = User.objects.filter(pk__in=author_ids(request)).exclude(email="")
    return authors.values_list("email", flat=True)


def _kinship(user: User, request: ApprovalRequest) -> Obstacle | None:
    """Why somebody who wrote nothing of the plan is no second pair of eyes all the same."""
    if editors_of(request).filter(created_by=user).exists():
        return Obstacle.EDITOR
    if user.invited_by_id in author_ids(request):
        return Obstacle.INVITED
    if user.email and _addresses(request).filter(email=user.email).exists():
        return Obstacle.SAME_PERSON
    return None


def _grants(user: User, request: ApprovalRequest) -> QuerySet[RoleGrant]:
    return RoleGrant.objects.filter(
        membership__user=user,
        membership__team=team_of(request),
        role=TeamRole.APPROVER,
        created_at__lte=request.created_at,
    )

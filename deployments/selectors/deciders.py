"""Whether the right people approved: rules that name people or roles, beside how many there are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from deployments.models import (
    Approval,
    ApprovalRequest,
    Decision,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules, Risk, WhoRule
from deployments.selectors.policies import (
    asked_today,
    rules_asked_then,
    rules_for,
)
from deployments.selectors.texts import listed
from deployments.selectors.votes import (
    approvals_needed,
    needs_other_person,
    vote_counts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """A rule that the approvals so far do not meet, and by how many."""

    rule: WhoRule
    missing: int

    @property
    def sentence(self) -> str:
        """Whose approval is still needed."""
        return ngettext(
            "%(missing)s approval by %(who)s is still needed.",
            "%(missing)s approvals by %(who)s are still needed.",
            self.missing,
        ) % {"missing": self.missing, "who": who_text(self.rule)}


def who_text(rule: WhoRule) -> str:
    """The people and roles of a rule, in words."""
    roles = [
        _("%(role)s of the team of the cluster") % {"role": TeamRole(role).label}
        for role in rule.roles
    ]
    return listed([*rule.people, *roles])


def rules_asked(
    request: ApprovalRequest, rules: ApprovalRules | None = None
) -> tuple[WhoRule, ...]:
    """Whose approvals the request needs: asked at submission, or by a stricter policy since.

    ``rules`` are those of today, where the caller has read them.
    """
    deployment = request.plan.revision.deployment
    risk = Risk(request.risk)
    guest = deployment.team_id != deployment.cluster.team_id
    today = (rules or rules_for(deployment)).asked_of(risk, guest=guest)
    if asked_today(request):
        return today
    then = rules_asked_then(request).asked_of(risk, guest=guest)
    return tuple(dict.fromkeys((*then, *today)))


def counting(request: ApprovalRequest) -> list[Approval]:
    """The approving votes that count today."""
    votes = request.approvals.filter(decision=Decision.APPROVE).select_related(
        "user", "delegated__approver"
    )
    return [vote for vote in votes if vote_counts(vote, request)]


def lacking(
    request: ApprovalRequest,
    votes: Sequence[Approval],
    rules: ApprovalRules | None = None,
) -> tuple[Lack, ...]:
    """The rules about people that these counting votes do not meet; no query where there is none."""
    asked = rules_asked(request, rules)
    if not asked:
        return ()
    voters = [_voter(vote) for vote in votes]
    held = _roles_held(request, voters)
    found = []
    for rule in asked:
        given = sum(
            meets(rule, user, held.get(user.pk, frozenset())) for user in voters
        )
        if given < rule.count:
            found.append(Lack(rule=rule, missing=rule.count - given))
    return tuple(found)


def is_enough(request: ApprovalRequest) -> bool:
    """Whether as many approve as must, and those who must."""
    votes = counting(request)
    return len(votes) >= approvals_needed(request) and not lacking(request, votes)


def meets(rule: WhoRule, user: User, roles: frozenset[str]) -> bool:
    """Whether one person is one of those that a rule names."""
    return user.username in rule.people or bool(roles & set(rule.roles))


def _voter(vote: Approval) -> User:
    """Who decided, or for whom."""
    given_for = getattr(vote, "delegated", None)
    return vote.user if given_for is None else given_for.approver


def _roles_held(
    request: ApprovalRequest, users: Iterable[User]
) -> dict[int, frozenset[str]]:
    """Roles in the cluster's team, from before the request where it needs another person."""
    team: UUID = request.plan.revision.deployment.cluster.team_id
    grants = RoleGrant.objects.filter(
        membership__team=team, membership__user__in=[user.pk for user in users]
    )
    if needs_other_person(request):
        grants = grants.filter(created_at__lte=request.created_at)
    held: dict[int, frozenset[str]] = {}
    for user, role in grants.values_list("membership__user", "role"):
        held[user] = held.get(user, frozenset()) | {role}
    return held

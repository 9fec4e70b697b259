"""The approval rules that hold on a cluster, and whether its people can meet them."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from deployments.models import Cluster, PolicyVersion, RoleGrant, TeamRole
from deployments.planning.approval_rules import ApprovalRules
from deployments.planning.documents import from_document


def current_rules(cluster: Cluster) -> ApprovalRules:
    """The newest rules of a cluster; the defaults while nobody changed them."""
    newest = policy_versions(cluster).first()
    return rules_of(newest) if newest is not None else ApprovalRules()


def rules_at(cluster: Cluster, number: int) -> ApprovalRules:
    """The rules that held under a policy version of the cluster."""
    newest = policy_versions(cluster).filter(number__lte=number).first()
    return rules_of(newest) if newest is not None else ApprovalRules()


def rules_of(version: PolicyVersion) -> ApprovalRules:
    """The rules of one version."""
    return from_document(ApprovalRules, version.rules)


def policy_versions(cluster: Cluster) -> QuerySet[PolicyVersion]:
    """Every version of a cluster's rules, newest first."""
    return (
        PolicyVersion.objects.filter(cluster=cluster)
        .select_related("changed_by")
        .order_by("-number")
    )


def unmet_rules(cluster: Cluster, rules: ApprovalRules) -> list[str]:
    """Sentences about rules that nobody in the team can meet now; one query."""
    return list(_unmet(cluster, rules.most_needed))


def _unmet(cluster: Cluster, needed: int) -> Iterator[str]:
    people: dict[int, tuple[str, set[str]]] = {}
    grants = RoleGrant.objects.filter(
        membership__team=cluster.team_id, membership__user__is_active=True
    ).select_related("membership__user")
    for grant in grants:
        user = grant.membership.user
        people.setdefault(user.pk, (str(user), set()))[1].add(grant.role)
    approvers = {
        name: roles for name, roles in people.values() if TeamRole.APPROVER in roles
    }
    if len(approvers) < needed:
        yield ngettext(
            "A plan may need %(needed)s approval, and the team has no approver: make somebody one.",
            "A plan may need %(needed)s approvals, and the team has %(have)s: make more people approvers, or ask for fewer.",
            needed,
        ) % {"needed": needed, "have": len(approvers)}
        return
    authors = sorted(
        name for name, roles in approvers.items() if TeamRole.OPERATOR in roles
    )
    if cluster.requires_other_approver and authors and len(approvers) - 1 < needed:
        yield _(
            "Plans by %(names)s may need %(needed)s approvals by other people, and only %(have)s could give one."
        ) % {
            "names": ", ".join(authors),
            "needed": needed,
            "have": len(approvers) - 1,
        }

"""The approval rules that hold on a cluster, and whether its people can meet them."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Deployment,
    DeploymentEnvironment,
    PolicyVersion,
    RoleGrant,
    TeamRole,
)
from deployments.planning.approval_rules import ApprovalRules, Environment, WhoRule
from deployments.planning.documents import from_document

ANY = "any"
People = dict[str, tuple[str, set[str]]]
"""Of everybody in a team, by user name: the name and the roles."""


def current_rules(cluster: Cluster) -> ApprovalRules:
    """The newest rules of a cluster; the defaults while nobody changed them."""
    newest = policy_versions(cluster).first()
    return rules_of(newest) if newest is not None else ApprovalRules()


def rules_at(cluster: Cluster, number: int) -> ApprovalRules:
    """The rules that held under a policy version of the cluster."""
    newest = policy_versions(cluster).filter(number__lte=number).first()
    return rules_of(newest) if newest is not None else ApprovalRules()


def rules_for(deployment: Deployment) -> ApprovalRules:
    """The rules of today for plans of one deployment: those of its environment on its cluster."""
    return current_rules(deployment.cluster).within(environment(deployment.environment))


def asked_today(request: ApprovalRequest) -> bool:
    """Whether the request was made under the very rules that hold today."""
    deployment = request.plan.revision.deployment
    return (request.policy_version, request.environment) == (
        deployment.cluster.policy_version,
        deployment.environment,
    )


def rules_asked_then(request: ApprovalRequest) -> ApprovalRules:
    """The rules that the request was made under, in the environment of that day."""
    cluster = request.plan.revision.deployment.cluster
    kept = rules_at(cluster, request.policy_version)
    return kept.within(environment(request.environment))


def environment(stored: str) -> Environment | None:
    """An environment as rows hold it."""
    return Environment(stored) if stored else None


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
    """Sentences about rules that nobody in the team can meet now; one query.

    Those of an environment are told under its name.
    """
    people = _people(cluster)
    found = [*_unmet(cluster, rules.most_needed, people), *_unmet_who(rules, people)]
    for key, own in rules.environments.items():
        name = DeploymentEnvironment(key).label
        found += [
            f"{name}: {one}"
            for one in (
                *_unmet(cluster, own.most_needed, people),
                *_unmet_who(own, people),
            )
        ]
    return found


def _people(cluster: Cluster) -> People:
    people: People = {}
    grants = RoleGrant.objects.filter(
        membership__team=cluster.team_id, membership__user__is_active=True
    ).select_related("membership__user")
    for grant in grants:
        user = grant.membership.user
        people.setdefault(user.username, (str(user), set()))[1].add(grant.role)
    return people


def _unmet_who(rules: ApprovalRules, people: People) -> Iterator[str]:
    """Rules that name people: whoever is no approver of the team cannot meet one."""
    approvers = {
        username: roles
        for username, (_name, roles) in people.items()
        if TeamRole.APPROVER in roles
    }
    for rule in rules.who:
        able = [
            username
            for username, roles in approvers.items()
            if username in rule.people or roles & set(rule.roles)
        ]
        if len(able) < rule.count:
            yield _("“%(rule)s” cannot be met: %(have)s of them can approve here.") % {
                "rule": line_of(rule),
                "have": len(able),
            }


def line_of(rule: WhoRule) -> str:
    """A rule as the form writes it: ``high: 1 of alice, @admin``."""
    who = [*rule.people, *(f"@{role}" for role in rule.roles)]
    return f"{rule.risk or ANY}: {rule.count} of {', '.join(who)}"


def _unmet(cluster: Cluster, needed: int, people: People) -> Iterator[str]:
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
    others = len(approvers) - 1
    if cluster.requires_other_approver and authors and others < needed:
        yield ngettext(
            "What %(names)s plans may need %(needed)s approval by somebody else, and nobody else approves here: make another member an approver.",
            "What %(names)s plans may need %(needed)s approvals by others, and %(have)s approve here: make more members approvers, or ask for fewer.",
            needed,
        ) % {"names": ", ".join(authors), "needed": needed, "have": others}

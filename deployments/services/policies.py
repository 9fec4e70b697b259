"""Change the approval rules of a cluster, every version of which is kept, and which of them hold."""

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    Cluster,
    Deployment,
    DeploymentEnvironment,
    PolicyVersion,
    TeamRole,
    User,
)
from deployments.planning.approval_rules import ApprovalRules
from deployments.planning.canonical import Json
from deployments.planning.documents import to_document
from deployments.selectors.policies import current_rules
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError


def change_rules(
    user: User, cluster: Cluster, rules: ApprovalRules, *, shown_version: int
) -> bool:
    """Keep changed rules under the cluster's next policy version; say whether anything changed.

    Open and approved requests keep what they were made under, and stricter rules reach them too.

    Raises:
        NotAllowedError: the person is no admin of the cluster's team.
        ConflictError: somebody changed the policy since it was shown.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        earlier = current_rules(cluster)
        if earlier == rules:
            return False
        changed = Cluster.objects.filter(
            pk=cluster.pk, policy_version=shown_version
        ).update(policy_version=F("policy_version") + 1)
        if changed != 1:
            raise ConflictError(
                _(
                    "Somebody changed this policy since you opened the page. "
                    "Compare your entries with what holds now, and save again."
                )
            )
        PolicyVersion.objects.create(
            cluster=cluster,
            number=shown_version + 1,
            rules=to_document(rules),
            changed_by=user,
        )
        record(
            AuditAction.RULES_CHANGED,
            user,
            cluster,
            before=_told(earlier),
            after=_told(rules),
        )
    return True


def change_environment(user: User, deployment: Deployment, environment: str) -> bool:
    """Say what a deployment is for, and so which rules hold for it; say whether anything changed.

    An empty ``environment`` follows the cluster's own rules. Requests keep the rules of the one that
    they were made in, and stricter rules of the new one reach them too.

    Raises:
        NotAllowedError: the person is no admin of the team that owns the cluster.
        ConflictError: there is no such environment.
    """
    require_role(user, deployment.cluster.team, TeamRole.ADMIN)
    if environment and environment not in DeploymentEnvironment.values:
        raise ConflictError(_("There is no such environment; choose one of the list."))
    with transaction.atomic():
        row = Deployment.objects.select_for_update().get(pk=deployment.pk)
        if row.environment == environment:
            return False
        Deployment.objects.filter(pk=row.pk).update(environment=environment)
        record(
            AuditAction.ENVIRONMENT_CHANGED,
            user,
            deployment,
            before={"environment": row.environment},
            after={"environment": environment},
        )
    return True


def _told(rules: ApprovalRules) -> dict[str, Json]:
    """The rules as an audit entry holds them."""
    return {
        name: to_document(getattr(rules, name))
        for name in ApprovalRules.__dataclass_fields__
    }

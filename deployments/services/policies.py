"""Change the approval rules of a cluster; every version is kept."""

from dataclasses import asdict

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from deployments.models import AuditAction, Cluster, PolicyVersion, TeamRole, User
from deployments.planning.approval_rules import ApprovalRules
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
            before=asdict(earlier),
            after=asdict(rules),
        )
    return True

"""Change what a cluster decides for every plan on it."""

from dataclasses import asdict, dataclass

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from deployments.models import AuditAction, Cluster, TeamRole, User
from deployments.planning.snapshot import LOG_ROOT
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPolicy:
    """What a team admin may set; ``image_rewrites`` are (prefix, replacement) pairs.

    ``log_root`` is where replicas keep log files of their own on each host.
    """

    requires_other_approver: bool
    image_rewrites: tuple[tuple[str, str], ...]
    model_roots: tuple[str, ...]
    split_cards: bool = False
    log_root: str = LOG_ROOT


def policy_of(cluster: Cluster) -> ClusterPolicy:
    """The policy as it stands."""
    return ClusterPolicy(
        requires_other_approver=cluster.requires_other_approver,
        image_rewrites=tuple(
            (str(prefix), str(replacement))
            for prefix, replacement in cluster.image_rewrites
        ),
        model_roots=tuple(str(root) for root in cluster.model_roots),
        split_cards=cluster.split_cards,
        log_root=cluster.log_root,
    )


def change_policy(
    user: User, cluster: Cluster, policy: ClusterPolicy, *, shown_version: int
) -> bool:
    """Keep a changed policy under the next version number; say whether anything changed.

    Open requests keep the version that they were made under.

    Raises:
        NotAllowedError: the person is no admin of the cluster's team.
        ConflictError: somebody changed the policy since it was shown.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        stored = Cluster.objects.get(pk=cluster.pk)
        earlier = policy_of(stored)
        if earlier == policy:
            return False
        changed = Cluster.objects.filter(
            pk=cluster.pk, policy_version=shown_version
        ).update(
            requires_other_approver=policy.requires_other_approver,
            image_rewrites=[list(pair) for pair in policy.image_rewrites],
            model_roots=list(policy.model_roots),
            split_cards=policy.split_cards,
            log_root=policy.log_root,
            policy_version=F("policy_version") + 1,
        )
        if changed != 1:
            raise ConflictError(
                _(
                    "Somebody changed this policy since you opened the page. "
                    "Compare your entries with what holds now, and save again."
                )
            )
        old, new = asdict(earlier), asdict(policy)
        record(AuditAction.CLUSTER_CHANGED, user, cluster, before=old, after=new)
    return True

"""Let another team see a cluster or deploy on it, and take that back: what runs is left alone."""

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    Cluster,
    ClusterShare,
    Deployment,
    DeviceQuota,
    ShareAccess,
    Team,
    TeamRole,
    User,
)
from deployments.planning.text import text
from deployments.selectors.sharing import may_deploy_on
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotApprovedError
from deployments.services.quotas import set_quota


def share_cluster(
    user: User,
    cluster: Cluster,
    team: Team,
    access: ShareAccess,
    *,
    devices: int | None = None,
) -> bool:
    """Let a team see the cluster or deploy on it, with at most so many devices; say what changed.

    Raises:
        NotAllowedError: the person is no admin of the team that owns the cluster.
        ConflictError: it is that team's own, or the number of devices is out of range.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    if team.pk == cluster.team_id:
        raise ConflictError(
            _("The cluster belongs to the team %(team)s already.") % {"team": team.name}
        )
    with transaction.atomic():
        known = ClusterShare.objects.filter(cluster=cluster, team=team).first()
        changed = known is None or known.access != access
        if changed:
            ClusterShare.objects.update_or_create(
                cluster=cluster,
                team=team,
                defaults={"access": access, "changed_by": user},
            )
            record(
                AuditAction.SHARED,
                user,
                cluster,
                before={"access": known.access, "team": team.name} if known else {},
                after={"access": access.value, "team": team.name},
            )
        return set_quota(user, cluster, devices, team=team) or changed


def end_share(user: User, share: ClusterShare) -> None:
    """Take a share back: nothing new of the guest starts, and what runs keeps running.

    Raises:
        NotAllowedError: the person is no admin of the team that owns the cluster.
        ConflictError: somebody ended it before.
    """
    cluster = share.cluster
    require_role(user, cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        gone, _rows = ClusterShare.objects.filter(pk=share.pk).delete()
        if not gone:
            raise ConflictError(_("Somebody has ended this already."))
        DeviceQuota.objects.filter(cluster=cluster, team=share.team).delete()
        before = {"access": share.access, "team": share.team.name}
        record(AuditAction.UNSHARED, user, cluster, before=before)


def check_place(deployment: Deployment) -> None:
    """Prove that a new release of the deployment may start where it stands.

    Raises:
        NotApprovedError: the cluster is another team's, and not shared for deployments any more.
    """
    if may_deploy_on(deployment.team, deployment.cluster):
        return
    raise NotApprovedError(
        text(
            "{cluster} is not shared with the team {team} for deployments any more: ask an admin of "
            "the team that owns it.",
            cluster=deployment.cluster.name,
            team=deployment.team.name,
        )
    )

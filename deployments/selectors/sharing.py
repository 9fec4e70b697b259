"""Which teams a cluster is shared with, and for which team a person acts there."""

from dataclasses import dataclass

from deployments.models import (
    Cluster,
    ClusterShare,
    DeviceQuota,
    Membership,
    ShareAccess,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.quotas import Holdings, holdings


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLine:
    """One guest of a cluster with what it holds there; no quota is no limit."""

    row: ClusterShare
    held: Holdings
    quota: int | None


def may_deploy_on(team: Team, cluster: Cluster) -> bool:
    """Whether new releases of the team may start on the cluster: its own, or shared for that."""
    if team.pk == cluster.team_id:
        return True
    return ClusterShare.objects.filter(
        cluster=cluster, team=team, access=ShareAccess.DEPLOY
    ).exists()


def guest_lines(cluster: Cluster) -> tuple[GuestLine, ...]:
    """Every guest of the cluster, by name."""
    rows = ClusterShare.objects.filter(cluster=cluster).select_related(
        "team", "changed_by"
    )
    quotas = dict(
        DeviceQuota.objects.filter(cluster=cluster).values_list("team", "devices")
    )
    return tuple(
        GuestLine(
            row=row, held=holdings(row.team, cluster), quota=quotas.get(row.team_id)
        )
        for row in rows.order_by("team__name")
    )


def is_guest(user: User, cluster: Cluster, roles: frozenset[TeamRole]) -> bool:
    """Whether the person sees the cluster only because it is shared with a team of theirs.

    ``roles`` are theirs in the team that owns it; whoever has one is asked about no further.
    """
    return (
        not roles
        and not Membership.objects.filter(user=user, team=cluster.team_id).exists()
    )

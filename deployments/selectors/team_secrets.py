"""Names of a team's secrets; no page ever reads a value."""

from deployments.models import Cluster, TeamSecret


def secrets_of(cluster: Cluster) -> tuple[TeamSecret, ...]:
    """The secrets that deployments on the cluster may name, without their values."""
    rows = TeamSecret.objects.filter(team=cluster.team_id)
    return tuple(rows.select_related("changed_by").defer("sealed"))

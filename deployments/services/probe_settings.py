"""Decide how the hosts of a cluster are probed for accelerators."""

from dataclasses import asdict, dataclass

from deployments.models import Cluster, ProbeSettings, TeamRole, User
from deployments.services.access import require_role


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeChoice:
    """What a team admin may set; an empty ``image`` takes the engine's own."""

    image: str
    repeats: bool
    privileged: bool


def change_probe(user: User, cluster: Cluster, choice: ProbeChoice) -> None:
    """Keep the choice for the next probes; the last one decides.

    Raises:
        NotAllowedError: the person is no admin of the cluster's team.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    ProbeSettings.objects.update_or_create(cluster=cluster, defaults=asdict(choice))

"""Decide how the hosts of a cluster are probed for accelerators."""

from dataclasses import asdict, dataclass

from django.db import transaction

from deployments.models import AuditAction, Cluster, ProbeSettings, TeamRole, User
from deployments.services.access import require_role
from deployments.services.audit import record


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
    new = asdict(choice)
    with transaction.atomic():
        old = ProbeSettings.objects.filter(cluster=cluster).values(*new).first() or {}
        ProbeSettings.objects.update_or_create(cluster=cluster, defaults=new)
        record(AuditAction.PROBE_CHANGED, user, cluster, before=old, after=new)

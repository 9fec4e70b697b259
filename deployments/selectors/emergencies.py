"""Who may stop a deployment at once, and whether anything of it runs."""

from collections.abc import Iterable

from deployments.models import (
    CHANGING_STATES,
    Deployment,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
    TeamRole,
    User,
)
from deployments.selectors.access import roles_in

EMERGENCY = "EMERGENCY"
"""The step under which the journal keeps who stopped a release at once, and why."""
MAY_STOP = frozenset({TeamRole.OPERATOR, TeamRole.APPROVER, TeamRole.ADMIN})
ALIVE = frozenset({ReplicaState.RUNNING, ReplicaState.UNKNOWN})


def may_run(releases: Iterable[Release | None], replicas: Iterable[Replica]) -> bool:
    """Whether one of these releases serves or is being changed, or one of the replicas may be running."""
    states = {release.state for release in releases if release}
    return bool(
        states & {ReleaseState.LIVE, *CHANGING_STATES}
        or {replica.state for replica in replicas} & ALIVE
    )


def may_stop_now(user: User, deployment: Deployment) -> bool:
    """Whether the person may stop the deployment at once."""
    return bool(roles_in(user, deployment.team) & MAY_STOP)


def what_runs(deployment: Deployment) -> list[Replica]:
    """The replicas that may be running, with their hosts and releases."""
    rows = Replica.objects.filter(release__deployment=deployment, state__in=ALIVE)
    return list(rows.select_related("host", "release__plan__revision"))

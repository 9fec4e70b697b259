"""Live replicas with metrics, as Prometheus' HTTP service discovery reads them, and keys to it."""

from django.core import signing

from deployments.models import Membership, Release, ReleaseState, User
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.plans import stored_plan

SALT = "service-discovery"
METRICS_PORT = "api"
LENGTH_OF_STAMP = 16

Group = dict[str, list[str] | dict[str, str]]


def target_groups(user: User) -> list[Group]:
    """One group for each live replica of the person's teams; routers have no metrics of vLLM.

    A host whose address nobody has told the panel is left out: Prometheus could not reach it.
    """
    releases = (
        Release.objects.for_user(user)
        .filter(state=ReleaseState.LIVE)
        .select_related("plan__revision", "deployment__cluster", "deployment__team")
        .prefetch_related("replicas__host")
        .order_by("deployment__name")
    )
    groups: list[Group] = []
    for release in releases:
        plan = _plan(release)
        for replica in release.replicas.all() if plan else ():
            planned = _planned(plan, replica.role, replica.rank)
            port = _port(planned)
            if port is None or not replica.host.address:
                continue
            address = replica.host.address
            name = f"[{address}]" if ":" in address else address
            groups.append(
                {
                    "targets": [f"{name}:{port}"],
                    "labels": {
                        "__meta_draftboard_team": release.deployment.team.slug,
                        "__meta_draftboard_cluster": release.deployment.cluster.slug,
                        "deployment": release.deployment.name,
                        "role": replica.role,
                        "replica": f"{replica.role}-{replica.rank}",
                        "release": str(release.number),
                        "revision": str(release.plan.revision.number),
                        "method": release.plan.method,
                    },
                }
            )
    return groups


def _plan(release: Release) -> Plan | None:
    try:
        return stored_plan(release.plan)
    except PlanningError:
        return None


def _planned(plan: Plan | None, role: str, rank: int) -> PlannedReplica | None:
    rows = plan.replicas if plan else ()
    return next((o for o in rows if (str(o.role), o.rank) == (role, rank)), None)


def _port(planned: PlannedReplica | None) -> int | None:
    if planned is None or planned.role is Role.ROUTER:
        return None
    ports = planned.container.ports
    return next((one.host for one in ports if one.purpose == METRICS_PORT), None)


def key_for(user: User) -> str:
    """A key that reads what the person may read, until they change their password or are disabled."""
    return signing.dumps({"user": str(user.pk), "stamp": _stamp(user)}, salt=SALT)


def reader_of(key: str) -> User | None:
    """The person whose key it is; ``None`` for any other text, and for people without a team."""
    try:
        held = signing.loads(key, salt=SALT)
    except signing.BadSignature:
        return None
    if not isinstance(held, dict):
        return None
    user = User.objects.filter(pk=str(held.get("user")), is_active=True).first()
    if user is None or held.get("stamp") != _stamp(user):
        return None
    return user if Membership.objects.filter(user=user).exists() else None


def _stamp(user: User) -> str:
    """Changes with the password."""
    return user.get_session_auth_hash()[:LENGTH_OF_STAMP]

"""Limit the devices that a team holds: set by its admin, asked at submission and again by the executor."""

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    Cluster,
    DeviceQuota,
    Release,
    Team,
    TeamRole,
    User,
)
from deployments.planning.text import text
from deployments.selectors.quotas import (
    booked_before,
    devices_of,
    holdings,
    quota_of,
)
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError

MOST_DEVICES = 100_000


class QuotaExceededError(ConflictError):
    """The team would hold more devices of the cluster than it may."""

    code = "quota"


def set_quota(
    user: User, cluster: Cluster, devices: int | None, *, team: Team | None = None
) -> bool:
    """Change the limit of the cluster's team, or of a guest; ``None`` takes it away.

    Returns whether it changed.

    What is held already stays: a lower limit stops nothing.

    Raises:
        NotAllowedError: the person is no admin of the team that owns the cluster.
        ConflictError: the number is out of range.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    if devices is not None and not 0 <= devices <= MOST_DEVICES:
        raise ConflictError(
            _("A quota is a number from 0 to %(most)s.") % {"most": MOST_DEVICES}
        )
    with transaction.atomic():
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        holder = team or cluster.team
        known = quota_of(holder, cluster)
        before = known.devices if known else None
        if before == devices:
            return False
        named = {"team": team.name} if team else {}
        if devices is None:
            DeviceQuota.objects.filter(team=holder, cluster=cluster).delete()
        else:
            DeviceQuota.objects.update_or_create(
                team=holder,
                cluster=cluster,
                defaults={"devices": devices, "changed_by": user},
            )
        record(
            AuditAction.QUOTA_CHANGED,
            user,
            cluster,
            before={"devices": before, **named},
            after={"devices": devices, **named},
        )
    return True


def check_request(request: ApprovalRequest) -> None:
    """Prove that the team may hold what a new request asks for, beside what it has and asks for.

    Call within the transaction that makes the request: others of the cluster wait until it commits.

    Raises:
        QuotaExceededError: it would be too many.
    """
    cluster = request.plan.revision.deployment.cluster
    team = request.plan.revision.deployment.team
    # Whoever sets a quota locks the same row, so that none is overlooked.
    Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
    quota = quota_of(team, cluster)
    if quota is None:
        return
    held = holdings(team, cluster, request)
    if held.total <= quota.devices:
        return
    raise QuotaExceededError(
        text(
            "The team {team} may hold {limit} devices of {cluster}. It holds {booked} and asks for "
            "{asked} more in other requests; this plan takes {wanted} more. Stop something, withdraw a "
            "request, or have a team admin raise the quota.",
            team=team.name,
            limit=quota.devices,
            cluster=cluster.name,
            booked=held.booked,
            asked=held.asked,
            wanted=held.wanted,
        )
    )


def check_release(release: Release) -> None:
    """Prove under the claim that a release fits the quota beside those that booked before it.

    Raises:
        QuotaExceededError: it would be too many.
    """
    cluster, team = release.deployment.cluster, release.deployment.team
    quota = quota_of(team, cluster)
    if quota is None:
        return
    held, wanted = booked_before(release), devices_of(release.plan)
    if len(held | wanted) <= quota.devices:
        return
    raise QuotaExceededError(
        text(
            "The team {team} may hold {limit} devices of {cluster}. Its releases hold {booked}, and "
            "this one takes {wanted} more.",
            team=team.name,
            limit=quota.devices,
            cluster=cluster.name,
            booked=len(held),
            wanted=len(wanted - held),
        )
    )

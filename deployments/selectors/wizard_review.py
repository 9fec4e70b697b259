"""What stands on the review of a plan that nobody has submitted yet."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from deployments.models import Cluster, ReleaseState, RoleGrant, Team, TeamRole, User
from deployments.models import Plan as PlanRow
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.decision import OFF
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Finding, Plan, PlannedReplica, Role, Severity
from deployments.selectors.plans import stored_plan
from deployments.selectors.texts import listed, role_name
from deployments.selectors.wizard_methods import speculation_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """Who decides: people by name, and whether the person who submits may be one of them."""

    names: tuple[str, ...]
    other_person: bool
    own: bool


def running_plan(cluster: Cluster, name: str) -> tuple[PlanRow, Plan] | None:
    """The plan of the live release of a deployment; ``None`` when nothing is live or readable."""
    row = (
        PlanRow.objects.filter(
            revision__deployment__cluster=cluster,
            revision__deployment__name=name,
            releases__state=ReleaseState.LIVE,
        )
        .select_related("revision__deployment")
        .first()
    )
    if row is None:
        return None
    try:
        return row, stored_plan(row)
    except PlanningError:
        return None


def approvers_of(user: User, cluster: Cluster, team: Team) -> Approvers:
    """The people whose approval a plan of this person for the team would need on the cluster."""
    grants = RoleGrant.objects.filter(
        membership__team__in={cluster.team_id, team.pk},
        role=TeamRole.APPROVER,
        membership__user__is_active=True,
    ).select_related("membership__user")
    if cluster.requires_other_approver:
        grants = grants.exclude(membership__user=user)
    people = {grant.membership.user for grant in grants}
    return Approvers(
        names=tuple(sorted(map(str, people))),
        other_person=cluster.requires_other_approver,
        own=user in people,
    )


def intent(plan: Plan, entry: CatalogEntry, where: str) -> str:
    """One sentence that says what would run."""
    sentence = (
        _(
            "Serve %(model)s (%(checkpoint)s) as %(name)s on %(where)s without speculative decoding."
        )
        if plan.decision.method == OFF
        else _(
            "Serve %(model)s (%(checkpoint)s) as %(name)s on %(where)s with %(method)s."
        )
    )
    return sentence % {
        "model": entry.name,
        "checkpoint": plan.checkpoint,
        "name": plan.deployment,
        "where": where,
        "method": speculation_text(plan),
    }


def placement_text(plan: Plan) -> str:
    """Hosts by role with their devices: ``gpu-1 (4 devices)``."""
    parts = [_one_place(replica) for replica in plan.replicas]
    return listed(dict.fromkeys(parts))


def number_ranges(numbers: Sequence[int]) -> str:
    """Numbers as runs: 0 to 7, 12."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return listed(
        str(first)
        if first == last
        else _("%(first)s to %(last)s") % {"first": first, "last": last}
        for first, last in runs
    )


def findings_by_severity(plan: Plan) -> list[tuple[Severity, list[Finding]]]:
    """Findings in groups, errors first; empty groups are left out."""
    groups = [
        (severity, [one for one in plan.findings if one.severity is severity])
        for severity in Severity
    ]
    return [(severity, found) for severity, found in groups if found]


def findings_text(plan: Plan) -> str:
    """How many findings of each severity, in words."""
    counts = Counter(one.severity for one in plan.findings)
    words = {
        Severity.ERROR: ngettext("%d error", "%d errors", counts[Severity.ERROR]),
        Severity.WARNING: ngettext(
            "%d warning", "%d warnings", counts[Severity.WARNING]
        ),
        Severity.INFO: ngettext("%d note", "%d notes", counts[Severity.INFO]),
    }
    parts = [text % counts[kind] for kind, text in words.items() if counts[kind]]
    return listed(parts) or _("no findings")


def _one_place(replica: PlannedReplica) -> str:
    count = len(replica.devices)
    where = replica.host
    if count:
        devices = ngettext("%d device", "%d devices", count) % count
        where = _("%(host)s (%(devices)s)") % {"host": where, "devices": devices}
    if replica.role is Role.COMBINED:
        return where
    return _("%(role)s: %(where)s") % {
        "role": role_name(replica.role.value),
        "where": where,
    }

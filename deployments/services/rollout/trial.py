"""Carry out the preflight of a request without a release: everything is looked at, nothing is changed."""

import logging
import time
import uuid
from contextlib import suppress
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Host,
    Preflight,
    PreflightCheck,
    Release,
    Replica,
    RequestState,
)
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan
from deployments.planning.text import NOTHING, Text, said_by, text
from deployments.selectors.earlier_releases import replaced_by_next
from deployments.selectors.plans import stored_plan
from deployments.services.approvals import check_approval
from deployments.services.errors import NotApprovedError
from deployments.services.rollout.checklist import Checklist, Told
from deployments.services.rollout.disk_check import prove_disks
from deployments.services.rollout.fabric_check import prove_fabric
from deployments.services.rollout.image_checks import prove_images
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.preflight import (
    prove_free,
    prove_hosts,
    prove_names,
)
from deployments.services.rollout.pulling import prove_pullable
from deployments.services.rollout.rollout import Layout, Member, in_order
from deployments.services.rollout.weights_check import prove_weights

logger = logging.getLogger(__name__)
LOST_AFTER = timedelta(minutes=2)
"""A worker that has not been heard of for so long was lost."""
SAID_EVERY_S = 5.0


class Trial(Layout):
    """A plan on its hosts as the next release would have it; its rows are not stored."""

    def __init__(self, preflight: Preflight, plan: Plan) -> None:
        self._preflight, self._said = preflight, time.monotonic()
        request = preflight.request
        deployment = request.plan.revision.deployment
        release = Release(
            pk=preflight.pk,
            deployment=deployment,
            plan=request.plan,
            request=request,
            number=0,
            replaces=replaced_by_next(deployment),
        )
        hosts = {
            host.name: host
            for host in Host.objects.filter(cluster=deployment.cluster).select_related(
                "cluster"
            )
        }
        self.gone = sorted({one.host for one in plan.replicas} - set(hosts))
        members = [
            Member(
                Replica(
                    release=release,
                    host=hosts[one.host],
                    role=one.role,
                    rank=one.rank,
                    container_name=one.container.name,
                ),
                one,
            )
            for one in plan.replicas
            if one.host in hosts
        ]
        super().__init__(release, plan, in_order(members))

    def keep_alive(self) -> None:
        """Let no other worker take this preflight for lost."""
        if time.monotonic() - self._said > SAID_EVERY_S:
            Preflight.objects.filter(pk=self._preflight.pk).update(started_at=Now())
            self._said = time.monotonic()


def preflights_to_run() -> list[uuid.UUID]:
    """Those that somebody asked for and that have no result yet."""
    rows = Preflight.objects.filter(Preflight.waiting())
    return list(rows.values_list("pk", flat=True))


def run_preflight(preflight_id: uuid.UUID) -> None:
    """Run one preflight, unless another worker does; safe to repeat, the newest list stays."""
    row = (
        Preflight.objects.filter(pk=preflight_id)
        .select_related("request__plan__revision__deployment__cluster")
        .first()
    )
    if row is None or not _claimed(row):
        return
    problem = NOTHING
    try:
        with Trial(row, stored_plan(row.request.plan)) as trial:
            found = Checklist(row.request_id, trial=True)
            _check(trial, found)
            found.store()
    except PlanningError as error:
        problem = said_by(error)
        logger.info("preflight failed", extra={"preflight": str(preflight_id)})
    Preflight.objects.filter(pk=row.pk).update(
        started_at=None, read_at=Now(), problem=problem
    )


def _claimed(row: Preflight) -> bool:
    free = Q(started_at=None) | Q(started_at__lt=Now() - LOST_AFTER)
    rows = Preflight.objects.filter(Preflight.waiting() & free, pk=row.pk)
    return rows.update(started_at=Now()) == 1


def _check(trial: Trial, found: Checklist) -> None:
    """Every check in the order of the list; a failure of one ends no other."""
    _look_at_approval(trial.release.request, found)
    if trial.gone:
        told = Told()
        for name in trial.gone:
            told.fail(
                text("the host {host} is no longer in this cluster", host=name),
                text("Plan again."),
            )
        found.add(PreflightCheck.HOST, told)
    prove_hosts(trial, found)
    prove_free(trial, found)
    answering = [
        member
        for member in trial.members
        if not found.failed(PreflightCheck.HOST, member.host)
    ]
    _look_at_old(trial, found)
    trial.members = tuple(answering)
    prove_names(trial, found)
    prove_pullable(trial, found)
    prove_disks(trial, found)
    prove_images(trial, found)
    prove_fabric(trial, found)
    with suppress(StepFailedError):
        prove_weights(trial, found)


def _look_at_approval(request: ApprovalRequest, found: Checklist) -> None:
    told = Told(sentence=text("The approval of exactly this plan holds."))
    if request.state == RequestState.OPEN:
        told = Told()
        told.note(text("The plan matches its digest; nobody has decided yet."))
    else:
        try:
            check_approval(request)
        except NotApprovedError as error:
            told = Told()
            told.fail(
                said_by(error), text("Submit the plan again and have it approved.")
            )
    found.add(PreflightCheck.APPROVAL, told)


def _look_at_old(trial: Trial, found: Checklist) -> None:
    """What the new release would take the place of, and whether it may."""
    told = Told(sentence=_said_of_old(trial))
    changing = trial.release.deployment.releases.filter(state__in=CHANGING_STATES)
    other = changing.first()
    if other is not None:
        told = Told()
        told.fail(
            text("{release} is being changed", release=str(other)),
            text("Wait until that ends, or cancel it."),
        )
    found.add(PreflightCheck.OLD_RELEASE, told)


def _said_of_old(trial: Trial) -> Text:
    if trial.old is None:
        return text("Nothing is replaced.")
    if trial.removes_first:
        return text(
            "{release} stops before the new one starts; it is restored if that fails.",
            release=str(trial.old),
        )
    return text(
        "{release} goes on serving until the new one is verified.",
        release=str(trial.old),
    )

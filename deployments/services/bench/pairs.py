"""Ask for a pair of benchmarks, with and without speculation, and cancel one."""

from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    OPEN_PAIRS,
    ApprovalRequest,
    AuditAction,
    BenchmarkPair,
    Deployment,
    Device,
    PairState,
    Release,
    ReleaseState,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset, own_prompts
from deployments.planning.bench.invocation import bench_arguments
from deployments.planning.decision import OFF
from deployments.planning.documents import to_document
from deployments.selectors.plans import stored_plan
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.bench.baseline import ask_for_baseline, prove_pair
from deployments.services.bench.measured import measured_of
from deployments.services.errors import ConflictError
from deployments.services.waking import wake

CARRY_PAIR = "deployments.carry_pair"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be measured: the course, the team's own prompts, and the live deployment without speculation.

    Without ``other`` the same devices serve in turn.
    """

    course: Course
    prompts: str = ""
    other: Deployment | None = None


def ask_for_pair(
    user: User, deployment: Deployment, wish: Wish, *, key: str
) -> BenchmarkPair:
    """Have both arms measured: with speculation, without, and with it again.

    In turn, the revision without speculation is planned and put to the vote here, and nothing is
    switched before it is approved.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: nothing is live, it does not speculate, the arms differ in more, a request waits,
            or a pair is under way.
        PlanningError: the prompts cannot be used, or the baseline cannot be planned.
    """
    require_role(user, deployment.team, TeamRole.OPERATOR)
    known = BenchmarkPair.objects.filter(idempotency_key=key).first()
    if known is not None:
        return known
    course = wish.course
    if course.dataset is Dataset.RANDOM:
        raise ConflictError(
            _(
                "Random tokens say nothing of speculation: no drafter was made for them. Choose prompts."
            )
        )
    live = _live(deployment)
    if live.plan.method == OFF:
        raise ConflictError(
            _("Speculation is off here: measure the deployment that has it on.")
        )
    if course.dataset is Dataset.OWN:
        own_prompts(wish.prompts)
    bench_arguments(measured_of(live).served, course, course.segments[0])
    if wish.other is not None:
        _prove_beside(live, wish.other)
    try:
        with transaction.atomic():
            request = None if wish.other else _ask_for_votes(user, live)
            pair = BenchmarkPair.objects.create(
                deployment=deployment,
                other=wish.other,
                course=to_document(course),
                prompts=wish.prompts if course.dataset is Dataset.OWN else "",
                state=PairState.APPROVAL if request else PairState.FIRST,
                with_it=live,
                request=request,
                asked_by=user,
                idempotency_key=key,
            )
            transaction.on_commit(lambda: wake(CARRY_PAIR, [pair.pk]))
            told = {
                "dataset": course.dataset.value,
                "loads": list(course.levels),
                "beside": wish.other.name if wish.other else None,
            }
            record(AuditAction.PAIR_ASKED, user, live, after=told)
    except IntegrityError as error:
        known = BenchmarkPair.objects.filter(idempotency_key=key).first()
        if known is not None:
            return known
        raise ConflictError(
            _("A pair of benchmarks of %(name)s is under way: wait, or cancel it.")
            % {"name": deployment.name}
        ) from error
    return pair


def _live(deployment: Deployment) -> Release:
    release = (
        deployment.releases.filter(state=ReleaseState.LIVE)
        .select_related("plan__revision", "deployment__cluster", "deployment__team")
        .first()
    )
    if release is None:
        raise ConflictError(_("Nothing is live, so there is nothing to measure."))
    return release


def _prove_beside(live: Release, other: Deployment) -> None:
    beside = _live(other)
    if other.cluster_id != live.deployment.cluster_id:
        raise ConflictError(_("Both arms have to run on the same cluster."))
    prove_pair(stored_plan(live.plan), stored_plan(beside.plan))
    if beside.plan.method != OFF:
        raise ConflictError(
            _("%(name)s speculates too: the other arm has to run without.")
            % {"name": other.name}
        )
    hosts = [set(one.replicas.values_list("host", flat=True)) for one in (live, beside)]
    kinds = [_devices(one) for one in hosts]
    if kinds[0] != kinds[1]:
        raise ConflictError(
            _("The devices of the two arms are not equal: %(one)s and %(other)s.")
            % {
                "one": ", ".join(sorted(kinds[0])) or "-",
                "other": ", ".join(sorted(kinds[1])) or "-",
            }
        )


def _devices(hosts: set[UUID]) -> set[str]:
    return set(Device.objects.filter(host__in=hosts).values_list("name", flat=True))


def _ask_for_votes(user: User, live: Release) -> ApprovalRequest:
    deployment = live.deployment
    waiting = ApprovalRequest.objects.filter(
        plan__revision__deployment=deployment,
        state__in=[RequestState.OPEN, RequestState.APPROVED],
    )
    if waiting.exists():
        raise ConflictError(
            _(
                "A request of this deployment waits for votes or for its start, and this would supersede it: "
                "have it decided or withdraw it first."
            )
        )
    if deployment.releases.filter(state__in=CHANGING_STATES).exists():
        raise ConflictError(
            _("%(name)s is already being changed. Wait until that ends, or cancel it.")
            % {"name": deployment.name}
        )
    number = live.plan.revision.number
    return ask_for_baseline(
        user,
        live,
        _(
            "Baseline of a pair of benchmarks: the same as r%(number)s without speculation. It starts by itself "
            "once r%(number)s was measured, and r%(number)s comes back after it. Users wait while each of the two "
            "starts."
        )
        % {"number": number},
    )


def cancel_pair(user: User, pair: BenchmarkPair) -> None:
    """Have a worker end a pair; what was switched is switched back first.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: it has ended.
    """
    require_role(user, pair.deployment.team, TeamRole.OPERATOR)
    with transaction.atomic():
        rows = BenchmarkPair.objects.filter(pk=pair.pk, state__in=OPEN_PAIRS)
        if not rows.update(cancel_asked_at=Now()):
            raise ConflictError(_("This pair of benchmarks has ended."))
        transaction.on_commit(lambda: wake(CARRY_PAIR, [pair.pk]))
        record(AuditAction.PAIR_CANCELLED, user, pair.with_it)

"""What was measured on one deployment, as its next plan takes it: pairs of benchmarks, and acceptance."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.db.models import (
    Exists,
    F,
    OuterRef,
    Q,
    Subquery,
    Sum,
)
from django.utils import timezone

from deployments.models import (
    BenchmarkResult,
    Cluster,
    DayRollup,
    Plan,
    Replica,
)
from deployments.planning.measured import THOUSAND, Measured
from deployments.planning.methods import Method
from deployments.planning.plan import Role
from deployments.selectors.measured_speedups import speedups_of

MOST_RESULTS = 20
DAYS = 7
FEWEST_DRAFTED = 1000
"""Draft tokens of a day below which its acceptance is chance."""
_METHODS = frozenset(method.value for method in Method)


def measured_here(cluster: Cluster, name: str) -> tuple[Measured, ...]:
    """Everything seen on the deployment of that name, in two queries.

    Acceptance is that of full days (UTC) before today, so that a plan made twice on one day is the
    same plan.
    """
    return tuple(
        sorted(
            {*_pairs(cluster, name), *_seen(cluster, name)},
            key=lambda one: (
                one.day,
                one.method,
                one.concurrency or 0,
                one.speedup or 0,
            ),
            reverse=True,
        )
    )


def _pairs(cluster: Cluster, name: str) -> Iterator[Measured]:
    planned = Plan.objects.filter(revision=OuterRef("revision")).values("method")[:1]
    rows = list(
        BenchmarkResult.objects.filter(
            deployment__cluster=cluster, deployment__name=name, revision__isnull=False
        )
        .select_related("revision", "deployment")
        .annotate(planned_method=Subquery(planned))[:MOST_RESULTS]
    )
    methods = {row.pk: row.planned_method for row in rows}
    for one in speedups_of(rows):
        method = one.method or methods.get(one.with_it)
        length = one.mean_acceptance_length
        if method not in _METHODS or not one.num_speculative_tokens:
            continue
        if length is None or one.concurrency is None:
            continue
        yield Measured(
            deployment=name,
            day=one.measured_at.astimezone(UTC).date().isoformat(),
            model=one.model,
            method=str(method),
            num_speculative_tokens=one.num_speculative_tokens,
            mean_acceptance_length=round(length * THOUSAND),
            concurrency=one.concurrency,
            speedup=round(one.speedup * THOUSAND),
        )


def _seen(cluster: Cluster, name: str) -> Iterator[Measured]:
    """The acceptance of each of the last full days on which enough was drafted, without canaries."""
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0)
    first, end = (today - timedelta(days=DAYS)).timestamp(), today.timestamp()
    others = Replica.objects.filter(
        Q(role=Role.PREFILL) | Q(canary=True), pk=OuterRef("replica")
    )
    days = (
        DayRollup.objects.filter(
            ~Exists(others),
            deployment__cluster=cluster,
            deployment__name=name,
            start_s__gte=int(first),
            start_s__lt=int(end),
            num_drafts__gt=0,
        )
        .values(
            "start_s",
            "positions",
            model=F("replica__release__plan__model_key"),
            method=F("replica__release__plan__method"),
        )
        .annotate(
            all_accepted=Sum("accepted"),
            all_drafted=Sum("drafted"),
            all_drafts=Sum("num_drafts"),
        )
        .order_by()
    )
    for day in days:
        if day["all_drafted"] < FEWEST_DRAFTED or day["method"] not in _METHODS:
            continue
        count = round(day["all_drafted"] / day["all_drafts"])
        yield Measured(
            deployment=name,
            day=datetime.fromtimestamp(day["start_s"], UTC).date().isoformat(),
            model=day["model"],
            method=day["method"],
            num_speculative_tokens=count,
            mean_acceptance_length=THOUSAND
            + round(THOUSAND * day["all_accepted"] / day["all_drafts"]),
        )

"""What else may be changed about a running release, from its hours of the last seven days."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Sum

from deployments.models import HOUR_S, Deployment, Release, ServingHour
from deployments.planning.engines.arguments import flag_values
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.acceptance_parts import parts_of
from deployments.selectors.acceptance_range import Range
from deployments.selectors.measured_verdict import measured_verdict
from deployments.telemetry.acceptance_history import Counts, total
from deployments.telemetry.next_changes import (
    Alternative,
    Hour,
    Kind,
    Planned,
    Proposal,
    by_measurement,
    count_change,
    next_changes,
)

HOURS = 7 * 24
THOUSAND = 1000


def changes_of(
    deployment: Deployment, live: Release, plan: Plan, now_s: int
) -> tuple[Proposal, ...]:
    """Propose changes of a live release, in three queries."""
    planned = _planned(plan)
    if not planned.num_speculative_tokens:
        return ()
    end_s = -(-now_s // HOUR_S) * HOUR_S
    week = Range(key="week", start_s=end_s - HOURS * HOUR_S, step_s=HOUR_S, steps=HOURS)
    hours = _hours(deployment, live, week)
    found = by_measurement(
        next_changes(planned, hours), measured_verdict(live), planned, hours
    )
    if any(one.kind in {Kind.OFF, Kind.METHOD} for one in found):
        return found
    counts = total(hour.counts for hour in hours)
    return (*found, *count_change(planned, counts, plan.decision.drafter))


def _hours(deployment: Deployment, live: Release, week: Range) -> list[Hour]:
    drafted: defaultdict[int, list[Counts]] = defaultdict(list)
    (parts,) = parts_of(deployment, [week])
    for part in parts:
        if part.release == live.number and part.drafts_as_planned:
            drafted[part.at_s // HOUR_S * HOUR_S].append(part.counts)
    rows = (
        ServingHour.objects.filter(
            deployment=deployment,
            replica__release=live,
            start_s__gte=week.start_s,
            start_s__lt=week.end_s,
            scrapes__gt=0,
        )
        .exclude(replica__role=Role.PREFILL)
        .exclude(replica__canary=True)
        .order_by("start_s")
        .values("start_s")
        .annotate(
            all_running_sum=Sum("running_sum"),
            all_scrapes=Sum("scrapes"),
            all_requests=Sum("requests"),
            all_prompted=Sum("prompted"),
            all_generated=Sum("generated"),
        )
    )
    return [
        Hour(
            concurrency=row["all_running_sum"] / row["all_scrapes"],
            requests=row["all_requests"],
            prompted=row["all_prompted"],
            generated=row["all_generated"],
            counts=total(drafted[row["start_s"]]),
        )
        for row in rows
    ]


def _planned(plan: Plan) -> Planned:
    writing = [
        one for one in plan.replicas if one.role not in {Role.ROUTER, Role.PREFILL}
    ]
    flags = flag_values(writing[-1].container.command) if writing else {}
    length = flags.get("--max-model-len") or ""
    decision, gain = plan.decision, plan.gain
    return Planned(
        method=decision.method,
        num_speculative_tokens=plan.num_speculative_tokens,
        break_even=gain.break_even if gain else None,
        break_even_high=gain.break_even_high if gain else None,
        tokens_per_step=gain.tokens_per_step / THOUSAND if gain else None,
        max_model_len=int(length) if length.isdecimal() else None,
        max_num_seqs=_sequences(plan, writing, flags),
        drafter_max_model_len=_drafter_length(flags.get("--speculative-config")),
        alternatives=tuple(
            Alternative(
                method=one.method,
                num_speculative_tokens=one.num_speculative_tokens,
                drafter=one.drafter,
                because=one.because,
            )
            for one in decision.methods
            if one.open and one.num_speculative_tokens and one.method != decision.method
        ),
    )


def _sequences(
    plan: Plan, writing: Sequence[PlannedReplica], flags: Mapping[str, str | None]
) -> int | None:
    """``max_num_seqs`` where it bounds what one address serves at once: one container, one rank, no router."""
    alone = len(plan.replicas) == len(writing) == 1
    ranks = flags.get("--data-parallel-size") or "1"
    given = flags.get("--max-num-seqs") or ""
    return int(given) if alone and ranks == "1" and given.isdecimal() else None


def _drafter_length(config: str | None) -> int | None:
    """How long a context the planned drafter was made for, where the catalog said it to the planner."""
    read = json.loads(config) if config else {}
    length = read.get("max_model_len")
    return length if isinstance(length, int) else None

"""Counters of running containers become samples and sums of serving; cursor and rows in one transaction."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.frames import timestamp_ns
from deployments.models import (
    AcceptanceSample,
    CounterCursor,
    Host,
    Replica,
    Serving,
    ServingDay,
    ServingHour,
    ServingMinute,
)
from deployments.planning.errors import PlanningError
from deployments.planning.plan import PlannedReplica, Role
from deployments.selectors.plans import stored_plan
from deployments.services.fault_points import fault_point
from deployments.services.rollout.probe import Endpoint, endpoint_of
from deployments.services.rollout.rollout import Member
from deployments.services.run_counts import (
    LINES_MORE,
    cursor_of,
    locked,
    note_difference,
    note_problem,
)
from deployments.services.scraping import Scrape, fetch_all
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.joining import (
    UNKNOWN,
    EngineDelta,
    added,
    began_anew,
    engine_counts,
    kept,
    news,
    shared_out,
    stored_counts,
    too_far_apart,
)
from deployments.telemetry.prometheus import MetricsReading, read_metrics
from deployments.telemetry.serving import (
    FIRST,
    OUTPUT,
    EngineServing,
    ServingReading,
    fell,
    grown,
    histogram_from,
    histogram_of,
    merged,
    read_serving,
)

logger = logging.getLogger(__name__)

SCRAPE_EVERY_NS = 9_500_000_000
"""Every other round of 5 s: an engine's own log has a window each 10 s."""
SECOND_NS = 10**9
STREAM = "scrape"
NO_SERIES = "no_series"
SERVING_LEVELS: tuple[type[Serving], ...] = (ServingMinute, ServingHour, ServingDay)
Stored = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A running container whose counters are due; the cursor is as it was before asking."""

    replica: Replica
    cursor: CounterCursor
    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class Taken:
    """What one scrape adds: engines as the cursor keeps them, drafted tokens, totals of serving."""

    engines: Stored
    deltas: list[EngineDelta]
    totals: dict[str, float]
    anew: bool


def scrape(host: Host, running: Iterable[tuple[Replica, ContainerFacts]]) -> int:
    """Read the counters of a host's running containers that are due; returns new samples."""
    targets = [
        target
        for replica, facts in running
        if (target := _target(host, replica, facts)) is not None
    ]
    answers = fetch_all([target.endpoint for target in targets])
    return sum(
        _store(host, target, answer)
        for target, answer in zip(targets, answers, strict=True)
    )


def _target(host: Host, replica: Replica, facts: ContainerFacts) -> Target | None:
    if replica.role == Role.ROUTER or not facts.running or facts.state == "paused":
        return None
    cursor = cursor_of(replica, facts.container_id, facts.started_at)
    due_ns = cursor.scraped_ns + SCRAPE_EVERY_NS
    if _now_ns(host, int(timezone.now().timestamp() * SECOND_NS)) < due_ns:
        return None
    planned = _planned(replica, facts)
    endpoint = endpoint_of(Member(replica, planned)) if planned else None
    if endpoint is None:
        return None
    return Target(replica, cursor, endpoint)


def _planned(replica: Replica, facts: ContainerFacts) -> PlannedReplica | None:
    """What the plan says of this very container; nothing for plans of another schema."""
    try:
        plan = stored_plan(replica.release.plan)
    except PlanningError:
        return None
    for one in plan.replicas:
        mine = (str(one.role), one.rank) == (replica.role, replica.rank)
        if mine and one.container.name == facts.name:
            return one
    return None


def _now_ns(host: Host, ours_ns: int) -> int:
    """Our time as the host's clock shows it, as its log lines do."""
    return ours_ns + (host.clock_offset_ms or 0) * 10**6


def _store(host: Host, target: Target, answer: Scrape) -> int:
    """Samples, sums of serving and cursor together, or nothing; returns new samples.

    Of two that asked at the same time the second to store has nothing to say.
    """
    if answer.problem:
        note_problem(target.cursor, answer.problem)
        return 0
    spoken, serving = read_metrics(answer.body), read_serving(answer.body)
    if not serving.engines and not spoken.engines:
        note_problem(target.cursor, NO_SERIES)
        return 0
    with transaction.atomic():
        row = locked(target.cursor)
        if row.scraped_ns != target.cursor.scraped_ns:
            return 0
        at_ns = max(_now_ns(host, answer.at_ns), row.scraped_ns + 1)
        taken = _take(row, spoken, serving)
        samples = _samples(target.replica, row, taken, at_ns)
        AcceptanceSample.objects.bulk_create(samples)
        _add_serving(target.replica, row, taken, serving, at_ns)
        row.engines, row.scraped_ns = taken.engines, at_ns
        row.epoch += taken.anew
        row.process_started = serving.process_started
        row.output_from = serving.output_from
        row.speculates = spoken.speculation
        row.problem, row.problem_since, row.adopted = "", None, False
        lines = stored_counts(row.logged)
        differs = too_far_apart(lines, stored_counts(row.read))
        note_difference(row, LINES_MORE, differs=differs and spoken.speculation)
        row.save()
        fault_point("after:SCRAPE")
    return len(samples)


def _take(row: CounterCursor, spoken: MetricsReading, serving: ServingReading) -> Taken:
    """Compare with the scrape before; a process that began anew says what it has since then."""
    before: Stored = row.engines
    anew = _process_changed(row, serving)
    engines: Stored = {}
    deltas: list[EngineDelta] = []
    totals: dict[str, float] = {}
    reset = anew
    for key in sorted({*spoken.engines, *serving.engines}):
        old = before.get(key, {})
        now = engine_counts(spoken.engines[key]) if key in spoken.engines else None
        served = serving.engines.get(key, EngineServing())
        old_counts = stored_counts(old.get("counts") or [])
        engine_anew = (
            anew
            or (now is not None and began_anew(now, old_counts))
            or fell(served.totals, old.get("totals", {}))
        )
        reset = reset or engine_anew
        if now is not None:
            since = UNKNOWN if engine_anew else old_counts
            if now.num_drafts is None:
                since = _without_drafts(since)
            deltas.append(EngineDelta(key, news(now, since)))
        if not row.adopted:
            for name, value in grown(
                served.totals, old.get("totals", {}), anew=engine_anew
            ).items():
                totals[name] = totals.get(name, 0.0) + value
        engines[key] = {
            "counts": kept(now) if now is not None else [],
            "totals": served.totals,
        }
    # An engine that is missing this once is not one that began anew.
    for key, old in before.items():
        engines.setdefault(key, old)
    if row.adopted:
        row.read = row.counted
        return Taken(engines, [], {}, anew=False)
    return Taken(engines, deltas, totals, anew=reset and bool(before))


def _without_drafts(counts: Counts) -> Counts:
    return Counts(accepted=counts.accepted, drafted=counts.drafted)


def _process_changed(row: CounterCursor, serving: ServingReading) -> bool:
    before, now = row.process_started, serving.process_started
    return before is not None and now is not None and abs(now - before) > 1


def _samples(
    replica: Replica, row: CounterCursor, taken: Taken, at_ns: int
) -> list[AcceptanceSample]:
    """What is new of each engine, less what the log had told before."""
    read, counted = stored_counts(row.read), stored_counts(row.counted)
    told = news(counted, read)
    fresh = shared_out(taken.deltas, told)
    for one in taken.deltas:
        read = added(read, one.counts)
    for one in fresh:
        counted = added(counted, one.counts) if one.counts.drafted else counted
    row.read, row.counted = kept(read), kept(counted)
    began_ns = row.scraped_ns or timestamp_ns(row.run_started_at) or at_ns
    return [
        AcceptanceSample(
            deployment=replica.release.deployment,
            replica=replica,
            container_id=row.container_id,
            run_started_at=row.run_started_at,
            stream=STREAM,
            timestamp_ns=at_ns,
            sequence=place,
            engine_index=int(one.engine[:6]) if one.engine.isdecimal() else None,
            accepted=one.counts.accepted,
            drafted=one.counts.drafted,
            num_drafts=one.counts.num_drafts,
            per_position=list(one.counts.per_position),
            num_speculative_tokens=len(one.counts.per_position) or None,
            window_s=max(0.0, (at_ns - began_ns) / SECOND_NS),
        )
        for place, one in enumerate(fresh)
        if one.counts.drafted
    ]


def _add_serving(
    replica: Replica,
    row: CounterCursor,
    taken: Taken,
    serving: ServingReading,
    at_ns: int,
) -> None:
    first_of_later_run = (
        not row.scraped_ns
        and CounterCursor.objects.filter(replica=replica).exclude(pk=row.pk).exists()
    )
    restarts = int(taken.anew or first_of_later_run)
    engines = list(serving.engines.values())
    for level in SERVING_LEVELS:
        step_ns = level.STEP_S * SECOND_NS
        sums, _made = level._default_manager.get_or_create(
            replica=replica,
            start_s=(at_ns - 1) // step_ns * level.STEP_S,
            defaults={"deployment": replica.release.deployment},
        )
        _add(sums, engines, taken.totals)
        sums.restarts += restarts
        sums.save()


def _add(
    sums: Serving, engines: Sequence[EngineServing], totals: Mapping[str, float]
) -> None:
    running = sum(one.running or 0.0 for one in engines)
    waiting = sum(one.waiting or 0.0 for one in engines)
    caches = [one.cache for one in engines if one.cache is not None]
    sums.scrapes += 1
    sums.running_sum += running
    sums.running_most = max(sums.running_most, running)
    sums.waiting_sum += waiting
    sums.waiting_most = max(sums.waiting_most, waiting)
    if caches:
        sums.cache_scrapes += 1
        sums.cache_sum += sum(caches) / len(caches)
        sums.cache_most = max(sums.cache_most, *caches)
    sums.generated += int(totals.get("generated", 0))
    sums.prompted += int(totals.get("prompted", 0))
    sums.requests += int(totals.get("requests", 0))
    sums.preemptions += int(totals.get("preemptions", 0))
    sums.first_token = _joined(sums.first_token, totals, FIRST)
    sums.output_token = _joined(sums.output_token, totals, OUTPUT)


def _joined(
    before: Mapping[str, object], totals: Mapping[str, float], kind: str
) -> dict[str, object]:
    return merged([histogram_from(before), histogram_of(totals, kind)]).document

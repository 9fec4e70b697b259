"""Acceptance during a run whose client cannot tell it: from what the engines printed meanwhile."""

from dataclasses import replace

from deployments.models import AcceptanceSample, BenchmarkSegment, Release
from deployments.planning.plan import Role
from deployments.telemetry.acceptance_history import Counts, total
from deployments.telemetry.benchmarks.values import BenchmarkRun, RunSpeculation

NANOSECONDS = 10**9


def with_acceptance(
    run: BenchmarkRun, row: BenchmarkSegment, release: Release
) -> BenchmarkRun:
    """The run with the acceptance of the release's engines, where the client found no counters.

    A router has none of its own, and the client of vLLM before 0.14.0 reads none. Windows that end
    within the run count, with whatever other clients asked for, as it is in counters.
    """
    if run.speculation is not None or row.began_at is None or row.ended_at is None:
        return run
    samples = AcceptanceSample.objects.filter(
        deployment=release.deployment_id,
        replica__release=release,
        timestamp_ns__gt=int(row.began_at.timestamp() * NANOSECONDS),
        timestamp_ns__lte=int(row.ended_at.timestamp() * NANOSECONDS),
    ).exclude(replica__role=Role.PREFILL)
    counts = total(
        Counts(
            accepted=one.accepted,
            drafted=one.drafted,
            num_drafts=one.num_drafts,
            per_position=tuple(one.per_position),
        )
        for one in samples
    )
    if not counts.drafted:
        return run
    told = RunSpeculation(
        acceptance_rate=counts.acceptance_rate,
        mean_acceptance_length=counts.mean_acceptance_length,
        num_drafts=counts.num_drafts,
        drafted=counts.drafted,
        accepted=counts.accepted,
        per_position=counts.per_position_rates,
        num_speculative_tokens=release.plan.num_speculative_tokens,
    )
    return replace(run, speculation=told)

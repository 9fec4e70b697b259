"""What the newest pair of benchmarks says about the plan that runs."""

from deployments.models import BenchmarkPair, PairState, Release
from deployments.selectors.benchmarks import runs_of
from deployments.telemetry.benchmarks.drift import judge_in_turn
from deployments.telemetry.benchmarks.verdict import Comparison


def measured_verdict(live: Release) -> Comparison | None:
    """The verdict of the newest finished pair of the live plan, in one query; ``None`` without one."""
    pair = (
        BenchmarkPair.objects.filter(with_it__plan=live.plan_id, state=PairState.DONE)
        .select_related("first__result", "base__result", "last__result")
        .order_by("-created_at")
        .first()
    )
    jobs = (pair.base, pair.first, pair.last) if pair else ()
    results = [job.result for job in jobs if job is not None and job.result]
    if not results or len(results) != len(jobs):
        return None
    off, first, last = (runs_of(one) for one in results)
    comparison, _drifts = judge_in_turn(off, first, last)
    return comparison if comparison.comparable else None

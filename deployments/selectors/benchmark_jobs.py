"""Benchmarks of a deployment that the panel carries out: how far each is, and what it left."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from deployments.models import (
    OPEN_BENCHMARKS,
    OPEN_PAIRS,
    BenchmarkJob,
    BenchmarkPair,
    BenchmarkResult,
    Deployment,
    SegmentState,
    User,
)
from deployments.selectors.benchmark_pairs import pairs_of

MOST_SHOWN = 20
MOST_PAIRS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One benchmark as its row shows it; loads are requests at once."""

    row: BenchmarkJob
    dataset: str
    loads: tuple[int, ...]
    repeats: int
    done: int
    total: int

    @property
    def open(self) -> bool:
        """Whether it goes on."""
        return self.row.state in OPEN_BENCHMARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsView:
    """The pairs and benchmarks of a deployment, newest first, and the results that the team keeps of it."""

    deployment: Deployment
    pairs: tuple[BenchmarkPair, ...]
    jobs: tuple[JobView, ...]
    results: tuple[BenchmarkResult, ...]

    @property
    def waiting(self) -> bool:
        """Whether the section will change by itself."""
        going = any(one.state in OPEN_PAIRS for one in self.pairs)
        return going or any(one.open for one in self.jobs)

    @property
    def stamp(self) -> str:
        """Changes when the section would."""
        jobs = [
            f"{one.row.state[0]}{one.done}{'c' if one.row.cancel_asked_at else ''}"
            for one in self.jobs
        ]
        return "-".join([*(one.state for one in self.pairs), *jobs])


def benchmark_jobs(deployment: Deployment, *, with_results: bool = True) -> JobsView:
    """The newest pairs, benchmarks and results of a deployment: three queries, two without results."""
    rows = (
        BenchmarkJob.objects.filter(replica__release__deployment=deployment)
        .select_related("asked_by", "host", "replica__release")
        .defer("prompts")
        .annotate(
            done=Count("segments", filter=Q(segments__state=SegmentState.DONE)),
            total=Count("segments"),
        )
        .order_by("-created_at")[:MOST_SHOWN]
    )
    results = (
        BenchmarkResult.objects.filter(deployment=deployment)
        .select_related("team", "deployment", "revision")
        .defer("runs")
        .order_by("-created_at")[:MOST_SHOWN]
    )
    return JobsView(
        deployment=deployment,
        pairs=pairs_of(deployment, MOST_PAIRS),
        jobs=tuple(
            JobView(
                row=row,
                dataset=str(row.course["dataset"]),
                loads=tuple(row.course["levels"]),
                repeats=int(row.course["repeats"]),
                done=row.done,
                total=row.total,
            )
            for row in rows
        ),
        results=tuple(results) if with_results else (),
    )


def jobs_for(user: User) -> QuerySet[BenchmarkJob]:
    """Benchmarks of the person's teams."""
    return BenchmarkJob.objects.for_user(user).select_related(
        "replica__release__deployment__cluster", "replica__release__deployment__team"
    )

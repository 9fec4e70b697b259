"""The overview: what needs the person, what is accepted, hosts, recent changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Host,
    Release,
    ReleaseState,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.planning.platforms.images import is_practice
from deployments.selectors.acceptance_summary import (
    SECOND_NS,
    AcceptanceSummary,
    acceptance_of,
)
from deployments.selectors.fleet import Fleet, HostLine, hosts_of
from deployments.selectors.recent_changes import Change, recent_changes
from deployments.selectors.waiting import decidable_requests
from deployments.telemetry.advice import ZERO_RATE, Thresholds, Verdict, advise

SHOWN_HOSTS = 10
SHOWN_LINES = 20
SHOWN_CALLS = 10
"""Of each kind; the lists that the page leads to have all of them."""
PRACTICE_MODEL = "Qwen/Qwen3-8B"
ZERO = "zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceLine:
    """One live deployment; ``verdict`` is a ``telemetry.advice.Verdict`` or ``zero``."""

    release: Release
    summary: AcceptanceSummary
    verdict: str
    thresholds: Thresholds | None

    @property
    def speculates(self) -> bool:
        """Whether the plan drafts at all."""
        return self.release.plan.method not in {"", "off", "none"}

    @property
    def as_expected(self) -> bool:
        """Whether the rate is normal or better for its count."""
        return self.verdict in {Verdict.HEALTHY, Verdict.NORMAL}

    @property
    def judged(self) -> bool:
        """Whether there was traffic, and thresholds for it."""
        return self.verdict not in {Verdict.NO_DATA, Verdict.NOT_COMPARABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCalls:
    """What waits for a person, as far as the overview has room for it."""

    troubled: tuple[Release, ...]
    requests: tuple[ApprovalRequest, ...]
    silent_hosts: tuple[HostLine, ...]
    changing: tuple[Release, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything on the page; for a ``new`` panel the first steps."""

    requests: tuple[ApprovalRequest, ...]
    troubled: tuple[Release, ...]
    changing: tuple[Release, ...]
    lines: tuple[AcceptanceLine, ...]
    fleet: Fleet
    changes: tuple[Change, ...]

    @property
    def silent_hosts(self) -> tuple[HostLine, ...]:
        """Hosts that do not answer."""
        return tuple(host for host in self.fleet.hosts if not host.reachable)

    @property
    def calls(self) -> int:
        """How many things wait for a person."""
        parts = (self.requests, self.troubled, self.changing, self.silent_hosts)
        return sum(map(len, parts))

    @property
    def first_lines(self) -> tuple[AcceptanceLine, ...]:
        """The deployments to look at first."""
        return self.lines[:SHOWN_LINES]

    @property
    def more_lines(self) -> int:
        """Deployments that the short list leaves out."""
        return max(0, len(self.lines) - SHOWN_LINES)

    @property
    def more_calls(self) -> int:
        """What waits and has no room here."""
        kinds = (self.troubled, self.requests, self.silent_hosts, self.changing)
        return sum(max(0, len(kind) - SHOWN_CALLS) for kind in kinds)

    @property
    def first_calls(self) -> FirstCalls:
        """The first of everything that waits for a person."""
        return FirstCalls(
            troubled=self.troubled[:SHOWN_CALLS],
            requests=self.requests[:SHOWN_CALLS],
            silent_hosts=self.silent_hosts[:SHOWN_CALLS],
            changing=self.changing[:SHOWN_CALLS],
        )

    @property
    def judged(self) -> int:
        """Deployments whose acceptance can be judged."""
        return sum(line.judged for line in self.lines)

    @property
    def as_expected(self) -> int:
        """Deployments that accept as much as their count lets expect."""
        return sum(line.as_expected for line in self.lines)

    @property
    def new(self) -> bool:
        """Whether nothing was ever submitted in the person's teams."""
        return not self.changes

    @property
    def reachable_hosts(self) -> tuple[HostLine, ...]:
        """Hosts that answer."""
        return tuple(host for host in self.fleet.hosts if host.reachable)

    @property
    def has_practice_image(self) -> bool:
        """Whether some host has the practice image."""
        return any(_has_practice_image(host.row) for host in self.fleet.hosts)

    @property
    def practice_host(self) -> Host | None:
        """A host that answers and has the practice image, where a first try costs nothing."""
        rows = (line.row for line in self.reachable_hosts)
        return next((row for row in rows if _has_practice_image(row)), None)

    @property
    def practice_plan(self) -> str:
        """The query of the wizard's review for a first try; empty without such a host."""
        host = self.practice_host
        if host is None:
            return ""
        return urlencode(
            {
                "step": "review",
                "model": PRACTICE_MODEL,
                "cluster": str(host.cluster_id),
                "host": host.name,
                "image_source": "practice",
                "name": "practice",
            }
        )

    @property
    def newest_sample(self) -> datetime | None:
        """When the newest sample of any live deployment was printed."""
        times = [
            line.summary.newest_ns for line in self.lines if line.summary.newest_ns
        ]
        return datetime.fromtimestamp(max(times) / SECOND_NS, UTC) if times else None

    @property
    def hosts(self) -> tuple[HostLine, ...]:
        """The hosts of the short list, those to look at first."""
        ordered = sorted(self.fleet.hosts, key=lambda host: not host.remarkable)
        return tuple(ordered[:SHOWN_HOSTS])

    @property
    def more_hosts(self) -> int:
        """Hosts that the short list leaves out."""
        return max(0, len(self.fleet.hosts) - SHOWN_HOSTS)


def _has_practice_image(host: Host) -> bool:
    return any(is_practice(str(image.get("reference"))) for image in host.images)


def overview_of(user: User) -> Overview:
    """Everything that the page shows, in nine queries whatever the number of deployments."""
    now_ns = int(timezone.now().timestamp() * SECOND_NS)
    releases = tuple(_releases(user))
    live = [row for row in releases if row.state == ReleaseState.LIVE]
    summaries = acceptance_of([row.deployment_id for row in live], now_ns)
    lines = [_line(row, summaries[row.deployment_id]) for row in live]
    requests = decidable_requests(user).select_related(
        "plan__revision__deployment", "submitted_by"
    )
    return Overview(
        requests=tuple(requests.order_by("created_at")),
        troubled=tuple(_troubled(releases)),
        changing=tuple(row for row in releases if row.state in CHANGING_STATES),
        lines=tuple(sorted(lines, key=_urgency)),
        fleet=hosts_of(user),
        changes=recent_changes(user),
    )


def _releases(user: User) -> ScopedQuerySet[Release]:
    """Live and changing releases, and failures that nothing followed."""
    newer = Release.objects.filter(
        deployment=OuterRef("deployment"), number__gt=OuterRef("number")
    )
    lost = Q(state__in=[ReleaseState.FAILED, ReleaseState.BLOCKED]) & ~Exists(newer)
    return (
        Release.objects.for_user(user)
        .filter(Q(state__in=[ReleaseState.LIVE, *CHANGING_STATES]) | lost)
        .select_related("deployment__cluster", "plan__revision")
        .order_by("deployment__name")
    )


def _troubled(releases: tuple[Release, ...]) -> Iterator[Release]:
    for row in releases:
        if row.state in {ReleaseState.FAILED, ReleaseState.BLOCKED} or row.warning:
            yield row


def _line(release: Release, summary: AcceptanceSummary) -> AcceptanceLine:
    plan = release.plan
    advice = advise(plan.method, plan.num_speculative_tokens, summary.counts)
    rate = summary.counts.acceptance_rate
    accepts_nothing = rate is not None and rate < ZERO_RATE
    return AcceptanceLine(
        release=release,
        summary=summary,
        verdict=ZERO if accepts_nothing else advice.verdict,
        thresholds=advice.thresholds,
    )


_ORDER = [
    ZERO,
    Verdict.LOW,
    Verdict.NORMAL,
    Verdict.HEALTHY,
    Verdict.NOT_COMPARABLE,
    Verdict.NO_DATA,
]


def _urgency(line: AcceptanceLine) -> tuple[bool, int, str]:
    return (
        not line.speculates,
        _ORDER.index(line.verdict),
        line.release.deployment.name,
    )

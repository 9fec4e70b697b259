"""The overview: what needs the person, what is on its way, what is accepted, hosts, recent changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import RowNumber

from deployments.models import (
    CHANGING_STATES,
    DriftKind,
    Release,
    ReleaseState,
    Replica,
    User,
)
from deployments.selectors.alarms import calling_alarms, with_calling_alarm
from deployments.selectors.overview_hosts import HostsSummary, hosts_summary
from deployments.selectors.ready_rows import asked_by, ready_models
from deployments.selectors.recent_changes import Change, recent_changes
from deployments.selectors.shortlist import Shortlist
from deployments.selectors.standings import (
    StandingCounts,
    StandingLine,
    standings,
)
from deployments.selectors.waiting import decidable_requests

SHOWN_HOSTS = 10
SHOWN_LINES = 20
SHOWN_CALLS = 10
"""Of each kind; the lists that the page leads to have all of them."""
TOGETHER = 4
"""So many silent deployments are one trouble, of hosts or of workers, and are told together."""
NAMED = 3
LOST = (ReleaseState.FAILED, ReleaseState.BLOCKED)
TROUBLED, ALARMED, CHANGING = "troubled", "alarmed", "changing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything on the page; ``troubled`` to ``stale`` need the person."""

    troubled: Shortlist
    alarms: Shortlist
    requests: Shortlist
    stale: Shortlist
    changing: Shortlist
    lines: tuple[StandingLine, ...]
    counts: StandingCounts
    hosts: HostsSummary
    changes: tuple[Change, ...]

    @property
    def silent_together(self) -> Shortlist | None:
        """The first names of silent deployments and how many there are, where one line tells them all."""
        if self.stale.total < TOGETHER:
            return None
        return Shortlist(rows=self.stale.rows[:NAMED], total=self.stale.total)

    @property
    def calls(self) -> int:
        """How many things wait for this person."""
        silent = 1 if self.silent_together else self.stale.total
        return sum(kind.total for kind in self._listed) + silent

    @property
    def more_calls(self) -> int:
        """What waits and has no room here."""
        silent = 0 if self.silent_together else self.stale.more
        return sum(kind.more for kind in self._listed) + silent

    @property
    def _listed(self) -> tuple[Shortlist, ...]:
        return self.troubled, self.alarms, self.requests, self.hosts.certificates

    @property
    def more_lines(self) -> int:
        """Deployments that the short list leaves out."""
        return self.counts.total - len(self.lines)


def overview_of(user: User) -> Overview | None:
    """Everything that the page shows, in nine queries; ``None`` where nothing was submitted yet."""
    changes = recent_changes(user)
    if not changes:
        return None
    counts, lines, stale = standings(user, SHOWN_LINES, SHOWN_CALLS)
    releases = _releases(user)
    return Overview(
        troubled=releases[TROUBLED],
        alarms=releases[ALARMED],
        requests=_requests(user),
        stale=Shortlist(rows=stale, total=counts.stale),
        changing=releases[CHANGING],
        lines=lines,
        counts=counts,
        hosts=hosts_summary(user, SHOWN_HOSTS),
        changes=changes,
    )


def _requests(user: User) -> Shortlist:
    """The oldest of the requests that this person may decide."""

    def waiting() -> Any:  # noqa: ANN401 - annotated rows
        return (
            decidable_requests(user)
            .select_related("plan__revision__deployment", "submitted_by")
            .defer("plan__document", "plan__revision__document")
            .annotate(total=Window(Count("pk")))
            .order_by("created_at")[:SHOWN_CALLS]
        )

    key = ("requests to decide", asked_by(user))
    listed: Sequence[Any] = ready_models(key, waiting)
    return Shortlist(rows=listed, total=listed[0].total if listed else 0)


def _releases(user: User) -> dict[str, Shortlist]:
    """Failures that nothing followed, live releases with a warning, and what drifted; those with an alarm; changes.

    A live release with both is among those with an alarm.
    """
    key = ("releases to look at", asked_by(user))
    rows: Sequence[Any] = ready_models(key, lambda: _to_look_at(user))
    found = {}
    for name in (TROUBLED, ALARMED, CHANGING):
        of_kind = [row for row in rows if row.kind == name]
        total = of_kind[0].total if of_kind else 0
        found[name] = Shortlist(rows=of_kind, total=total)
    return found


def _to_look_at(user: User) -> Any:  # noqa: ANN401 - annotated rows
    newer = Release.objects.filter(
        deployment=OuterRef("deployment"), number__gt=OuterRef("number")
    )
    lost = Q(state__in=LOST) & ~Exists(newer)
    warned = Q(state=ReleaseState.LIVE) & ~Q(warning="")
    alarmed = Q(state=ReleaseState.LIVE, deployment__in=calling_alarms())
    differing = Replica.objects.exclude(drift="")
    started = differing.filter(drift=DriftKind.STARTED)
    drifted = Q(
        state=ReleaseState.LIVE, pk__in=differing.order_by().values("release")
    ) | Q(pk__in=started.order_by().values("release"))
    first = differing.filter(release=OuterRef("pk")).order_by("drift_since")
    kind = Case(
        When(state__in=CHANGING_STATES, then=Value(CHANGING)),
        When(alarmed, then=Value(ALARMED)),
        default=Value(TROUBLED),
    )
    return (
        with_calling_alarm(
            Release.objects.for_user(user)
            .filter(Q(state__in=CHANGING_STATES) | lost | warned | alarmed | drifted)
            .annotate(kind=kind),
            alarmed,
        )
        .annotate(
            drift=Subquery(first.values("drift")[:1]),
            drift_text=Subquery(first.values("drift_text")[:1]),
            drift_action=Subquery(first.values("drift_action")[:1]),
        )
        .annotate(
            place=Window(RowNumber(), partition_by="kind", order_by="-state_since"),
            total=Window(Count("pk"), partition_by="kind"),
        )
        .filter(place__lte=SHOWN_CALLS)
        .select_related("deployment__cluster", "plan__revision")
        .defer("plan__document", "plan__revision__document")
        .order_by("kind", "place")
    )
